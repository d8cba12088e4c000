// An application in Metal.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "runtime/drivers/metal/api/native.h"
#include "runtime/drivers/metal/platform/pixel_format.h"
#include "runtime/hal/transfer.h"
#include "tests/conformance/application.h"

namespace texloom::hal::conformance {
namespace {

// Returns the device's id<MTLDevice>, which only native commands see.
id<MTLDevice> metal_device_of(Device& device) {
  void* found = nullptr;
  const auto commands = device.create_command_buffer();
  const Status recorded = commands->native({}, [&found](const NativeCommands& native) {
    found = metal::native_handles(native)->device;
    return Status();
  });
  EXPECT_TRUE(recorded.ok()) << recorded.to_string();
  const Status ran = run_and_wait(device, commands);
  EXPECT_TRUE(ran.ok()) << ran.to_string();
  return (id<MTLDevice>)found;
}

class MetalApplication final : public Application {
 public:
  explicit MetalApplication(id<MTLDevice> device)
      : device_([device retain]), queue_([device newCommandQueue]) {}
  ~MetalApplication() override {
    finish();
    while (!memory_.empty()) release(*memory_.begin());
    [queue_ release];
    [device_ release];
  }

  NativeDevice objects() const override {
    return {.device = (void*)device_, .queue = (void*)queue_};
  }

  void* make_buffer(std::uint64_t bytes) override {
    return keep([device_ newBufferWithLength:bytes options:MTLResourceStorageModePrivate]);
  }
  void* make_image(Extent2D extent, TexelFormat format) override {
    return make_image(extent, metal::pixel_format(format));
  }
  void* make_image_of_other_order(Extent2D extent) override {
    return make_image(extent, MTLPixelFormatRG32Float);
  }
  void release(void* memory) override {
    memory_.erase(memory);
    [(id)memory release];
  }
  std::size_t references(void* memory) override { return [(id)memory retainCount]; }

  void write(void* buffer, std::span<const std::byte> data) override {
    @autoreleasepool {
      id<MTLBuffer> staging =
          [[device_ newBufferWithBytes:data.data()
                                length:data.size()
                               options:MTLResourceStorageModeShared] autorelease];
      encode([&](id<MTLBlitCommandEncoder> encoder) {
        [encoder copyFromBuffer:staging
                   sourceOffset:0
                       toBuffer:(id<MTLBuffer>)buffer
              destinationOffset:0
                           size:data.size()];
      });
    }
  }
  void read(void* buffer, std::span<std::byte> data) override {
    @autoreleasepool {
      id<MTLBuffer> staging = [device_ newBufferWithLength:data.size()
                                                   options:MTLResourceStorageModeShared];
      encode([&](id<MTLBlitCommandEncoder> encoder) {
        [encoder copyFromBuffer:(id<MTLBuffer>)buffer
                   sourceOffset:0
                       toBuffer:staging
              destinationOffset:0
                           size:data.size()];
      });
      reads_.emplace_back(staging, data);
    }
  }
  void copy_to_image(void* buffer, void* image, Extent2D extent, TexelFormat format) override {
    const std::uint64_t row = std::uint64_t{extent.width} * bytes_per_texel(format);
    @autoreleasepool {
      encode([&](id<MTLBlitCommandEncoder> encoder) {
        [encoder copyFromBuffer:(id<MTLBuffer>)buffer
                   sourceOffset:0
              sourceBytesPerRow:row
            sourceBytesPerImage:row * extent.height
                     sourceSize:MTLSizeMake(extent.width, extent.height, 1)
                      toTexture:(id<MTLTexture>)image
               destinationSlice:0
               destinationLevel:0
              destinationOrigin:MTLOriginMake(0, 0, 0)];
      });
    }
  }
  void copy_from_image(void* image, void* buffer, Extent2D extent, TexelFormat format) override {
    const std::uint64_t row = std::uint64_t{extent.width} * bytes_per_texel(format);
    @autoreleasepool {
      encode([&](id<MTLBlitCommandEncoder> encoder) {
        [encoder copyFromTexture:(id<MTLTexture>)image
                         sourceSlice:0
                         sourceLevel:0
                        sourceOrigin:MTLOriginMake(0, 0, 0)
                          sourceSize:MTLSizeMake(extent.width, extent.height, 1)
                            toBuffer:(id<MTLBuffer>)buffer
                   destinationOffset:0
              destinationBytesPerRow:row
            destinationBytesPerImage:row * extent.height];
      });
    }
  }
  void finish() override {
    if (last_ != nil) [last_ waitUntilCompleted];
    [std::exchange(last_, nil) release];
    for (const auto& [staging, data] : reads_) {
      std::memcpy(data.data(), [staging contents], data.size());
      [staging release];
    }
    reads_.clear();
  }

 private:
  void* keep(id object) {
    EXPECT_TRUE(object != nil);
    memory_.insert((void*)object);
    return (void*)object;
  }
  void* make_image(Extent2D extent, MTLPixelFormat format) {
    @autoreleasepool {
      MTLTextureDescriptor* descriptor =
          [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:format
                                                             width:extent.width
                                                            height:extent.height
                                                         mipmapped:NO];
      descriptor.usage = MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite;
      descriptor.storageMode = MTLStorageModePrivate;
      return keep([device_ newTextureWithDescriptor:descriptor]);
    }
  }
  // Commits a command buffer of its own, which retains what it uses.
  void encode(const std::function<void(id<MTLBlitCommandEncoder>)>& body) {
    id<MTLCommandBuffer> commands = [queue_ commandBuffer];
    id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
    body(encoder);
    [encoder endEncoding];
    [commands commit];
    [last_ release];
    last_ = [commands retain];
  }

  id<MTLDevice> device_;
  id<MTLCommandQueue> queue_;
  id<MTLCommandBuffer> last_ = nil;
  std::vector<std::pair<id<MTLBuffer>, std::span<std::byte>>> reads_;
  std::set<void*> memory_;
};

}  // namespace

std::unique_ptr<Application> make_metal_application(Device& device) {
  return std::make_unique<MetalApplication>(metal_device_of(device));
}

}  // namespace texloom::hal::conformance
