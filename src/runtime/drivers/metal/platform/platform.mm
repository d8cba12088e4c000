#include "runtime/drivers/metal/platform/platform.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "runtime/drivers/metal/api/limits.h"
#include "runtime/drivers/metal/api/objects.h"
#include "runtime/drivers/metal/platform/pixel_format.h"
#include "runtime/hal/internal/devices/device_id.h"
#include "runtime/hal/internal/memory/machine_memory.h"

namespace texloom::hal::metal {
namespace {

// Blit encoders of macOS fill and copy multiples of 4 bytes.
constexpr std::uint64_t kBlitAlignment = 4;

// Limits that the API does not report (Apple's "Metal feature set tables").
struct Family {
  MTLGPUFamily family;
  const char* name;
  std::uint32_t texture_slots;
  std::uint32_t max_image_size;
};
// The best first. Every Mac's GPU is of the family Mac2; Apple's own GPUs also belong to an Apple
// family.
constexpr std::array kFamilies = {
    Family{MTLGPUFamilyApple9, "Apple9", 128, 16384},
    Family{MTLGPUFamilyApple8, "Apple8", 128, 16384},
    Family{MTLGPUFamilyApple7, "Apple7", 128, 16384},
    Family{MTLGPUFamilyApple6, "Apple6", 128, 16384},
    Family{MTLGPUFamilyApple5, "Apple5", 96, 16384},
    Family{MTLGPUFamilyApple4, "Apple4", 96, 16384},
    Family{MTLGPUFamilyMac2, "Mac2", 128, 16384},
    // Apple's driver for older devices may lack functions that this driver calls.
    Family{MTLGPUFamilyApple3, "Apple3", 31, 16384},
};
static_assert(std::all_of(kFamilies.begin(), kFamilies.end(), [](const Family& each) {
  return each.texture_slots <= kMostTextureSlots;
}));

const Family* family_of(id<MTLDevice> device) {
  const auto found = std::find_if(kFamilies.begin(), kFamilies.end(), [&](const Family& each) {
    return [device supportsFamily:each.family];
  });
  return found == kFamilies.end() ? nullptr : &*found;
}

bool is_apple(id<MTLDevice> device) { return [device supportsFamily:MTLGPUFamilyApple3]; }

// Whether kernels take addresses that the host writes without an argument encoder.
bool has_argument_buffers(id<MTLDevice> device) {
  return [device supportsFamily:MTLGPUFamilyMetal3] &&
         device.argumentBuffersSupport >= MTLArgumentBuffersTier2;
}

std::string language_of_system() {
  MTLCompileOptions* options = [[[MTLCompileOptions alloc] init] autorelease];
  const auto version = static_cast<unsigned long>(options.languageVersion);
  return fmt::format("Metal {}.{}", version >> 16, version & 0xffff);
}

std::uint64_t memory_of(id<MTLDevice> device) {
  std::uint64_t bytes = device.recommendedMaxWorkingSetSize;
  if (bytes == 0) bytes = kNoLimit64;
  return device.hasUnifiedMemory ? std::min(bytes, machine_memory_bytes()) : bytes;
}

// Metal states the alignment of linear textures in bytes, for each format.
std::uint32_t linear_alignment(id<MTLDevice> device) {
  std::uint32_t texels = 1;
  for (const TexelFormat format : kAllTexelFormats) {
    const auto bytes = static_cast<std::uint32_t>(
        [device minimumLinearTextureAlignmentForPixelFormat:pixel_format(format)]);
    texels = std::max(texels, bytes / bytes_per_texel(format));
  }
  return texels;
}

DeviceLimits limits_of(id<MTLDevice> device, const Family& family) {
  const MTLSize threads = device.maxThreadsPerThreadgroup;
  DeviceLimits limits;
  limits.max_image_width = limits.max_image_height = family.max_image_size;
  limits.max_read_images = limits.max_write_images = family.texture_slots;
  limits.max_buffers = kBufferSlots;
  // The largest limit of an axis stands for the limit of the whole threadgroup, which is at least
  // as large.
  limits.max_workgroup_size = std::max({threads.width, threads.height, threads.depth});
  limits.max_workitem_sizes = {threads.width, threads.height, threads.depth};
  limits.local_memory_bytes = device.maxThreadgroupMemoryLength;
  limits.global_memory_bytes = memory_of(device);
  limits.max_allocation_bytes =
      std::min<std::uint64_t>(device.maxBufferLength, limits.global_memory_bytes);
  limits.compute_units = 1;  // at least; Metal does not report them
  limits.max_argument_bytes = kNoLimit64;
  limits.max_constant_bytes = kMaxSetBytes;
  limits.buffer_offset_alignment = is_apple(device) ? kVectorBytes : kConstantAlignment;
  limits.transfer_alignment = kBlitAlignment;
  limits.view_pitch_alignment = limits.view_base_alignment = linear_alignment(device);
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  limits.import_address_alignment = limits.import_size_alignment = page;
  return limits;
}

DeviceInfo describe(id<MTLDevice> device, const Family& family) {
  DeviceInfo info;
  info.driver = "metal";
  info.formats = {KernelFormat::Metallib, KernelFormat::Msl};
  info.name = to_string(device.name);
  info.id = device_id(info.name);
  info.vendor = is_apple(device) ? "Apple" : info.name.substr(0, info.name.find(' '));
  info.platform = "Metal";
  info.driver_version = to_string([NSProcessInfo processInfo].operatingSystemVersionString);
  info.api_version = fmt::format("Metal, GPU family {}", family.name);
  info.language_version = language_of_system();
  info.type = DeviceType::Gpu;
  info.features = {.images = true,
                   .float16_arithmetic = true,
                   .argument_buffers = has_argument_buffers(device),
                   .matrix_fragments = [device supportsFamily:MTLGPUFamilyApple7] != NO,
                   .texture_views = true,
                   .host_import = true,
                   .indirect_dispatch = true,
                   .native_commands = true};
  info.limits = limits_of(device, family);
  const MemoryKindInfo shared{
      .available = true, .mappable = true, .persistent = true, .coherent = true};
  // With unified memory there is no managed memory, because nothing needs to be copied.
  const MemoryKindInfo managed{.available = true, .mappable = true, .persistent = true};
  info.memory_kinds = {MemoryKindInfo{.available = true}, shared,
                       device.hasUnifiedMemory ? MemoryKindInfo{} : managed};
  return info;
}

NSArray<id<MTLDevice>>* all_devices() {
#if TARGET_OS_IPHONE
  id<MTLDevice> device = [MTLCreateSystemDefaultDevice() autorelease];
  return device == nil ? @[] : @[ device ];
#else
  return [MTLCopyAllDevices() autorelease];
#endif
}

}  // namespace

Result<std::vector<SystemDevice>> find_devices() {
  std::vector<SystemDevice> found;
  std::string left_out;  // the devices that are not in the list
  UniqueIds ids;
  @autoreleasepool {
    for (id<MTLDevice> device in all_devices()) {
      const Family* family = family_of(device);
      if (family == nullptr) {
        left_out +=
            fmt::format("; {} is older than what this driver supports", to_string(device.name));
        continue;
      }
      DeviceInfo info = describe(device, *family);
      info.id = ids.add(info.id);
      found.push_back(
          {share<MetalDevice>(device), std::make_shared<const DeviceInfo>(std::move(info))});
    }
  }
  if (found.empty())
    return make_error(
        StatusCode::Unavailable,
        "no Metal device on this machine{}; help: build for \"metal\" and read or save the "
        "kernels, or run them in the interpreter or by OpenCL",
        left_out);
  return found;
}

}  // namespace texloom::hal::metal
