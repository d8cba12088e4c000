// An application in OpenCL.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/drivers/opencl/api/api.h"
#include "runtime/drivers/opencl/api/native.h"
#include "runtime/drivers/opencl/driver.h"
#include "runtime/drivers/opencl/platform/context.h"
#include "runtime/hal/transfer.h"
#include "tests/conformance/application.h"

namespace texloom::hal::conformance {
namespace {

using opencl::Api;

// Returns the device's cl_device_id, which only native commands see.
cl_device_id device_id_of(Device& device) {
  cl_device_id id = nullptr;
  const auto commands = device.create_command_buffer();
  const Status recorded = commands->native({}, [&id](const NativeCommands& native) {
    id = opencl::native_handles(native)->device;
    return Status();
  });
  EXPECT_TRUE(recorded.ok()) << recorded.to_string();
  const Status ran = run_and_wait(device, commands);
  EXPECT_TRUE(ran.ok()) << ran.to_string();
  return id;
}

class OpenClApplication final : public Application {
 public:
  OpenClApplication(std::shared_ptr<const Api> api, cl_device_id device)
      : api_(std::move(api)), device_(device) {
    cl_int code = CL_SUCCESS;
    context_ = api_->clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
    expect(code);
    queue_ = api_->clCreateCommandQueue(context_, device, 0, &code);
    expect(code);
  }
  ~OpenClApplication() override {
    finish();
    while (!memory_.empty()) release(*memory_.begin());
    expect(api_->clReleaseCommandQueue(queue_));
    expect(api_->clReleaseContext(context_));
  }

  NativeDevice objects() const override {
    return {.context = context_, .device = device_, .queue = queue_};
  }

  void* make_buffer(std::uint64_t bytes) override {
    cl_int code = CL_SUCCESS;
    return keep(api_->clCreateBuffer(context_, CL_MEM_READ_WRITE, bytes, nullptr, &code), code);
  }
  void* make_image(Extent2D extent, TexelFormat format) override {
    return make_image(extent, opencl::image_format(format));
  }
  void* make_image_of_other_order(Extent2D extent) override {
    std::vector<cl_image_format> formats(256);
    cl_uint count = 0;
    expect(api_->clGetSupportedImageFormats(context_, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D,
                                            static_cast<cl_uint>(formats.size()), formats.data(),
                                            &count));
    formats.resize(std::min<std::size_t>(count, formats.size()));
    const auto found = std::ranges::find_if(
        formats, [](const cl_image_format& each) { return each.image_channel_order != CL_RGBA; });
    EXPECT_NE(found, formats.end());
    return make_image(extent, *found);
  }
  void release(void* memory) override {
    memory_.erase(static_cast<cl_mem>(memory));
    expect(api_->clReleaseMemObject(static_cast<cl_mem>(memory)));
  }
  std::size_t references(void* memory) override {
    cl_uint count = 0;
    expect(api_->clGetMemObjectInfo(static_cast<cl_mem>(memory), CL_MEM_REFERENCE_COUNT,
                                    sizeof count, &count, nullptr));
    return count;
  }

  void write(void* buffer, std::span<const std::byte> data) override {
    expect(api_->clEnqueueWriteBuffer(queue_, static_cast<cl_mem>(buffer), CL_FALSE, 0, data.size(),
                                      data.data(), 0, nullptr, nullptr));
  }
  void read(void* buffer, std::span<std::byte> data) override {
    expect(api_->clEnqueueReadBuffer(queue_, static_cast<cl_mem>(buffer), CL_FALSE, 0, data.size(),
                                     data.data(), 0, nullptr, nullptr));
  }
  void copy_to_image(void* buffer, void* image, Extent2D extent, TexelFormat) override {
    const std::size_t origin[] = {0, 0, 0}, region[] = {extent.width, extent.height, 1};
    expect(api_->clEnqueueCopyBufferToImage(queue_, static_cast<cl_mem>(buffer),
                                            static_cast<cl_mem>(image), 0, origin, region, 0,
                                            nullptr, nullptr));
  }
  void copy_from_image(void* image, void* buffer, Extent2D extent, TexelFormat) override {
    const std::size_t origin[] = {0, 0, 0}, region[] = {extent.width, extent.height, 1};
    expect(api_->clEnqueueCopyImageToBuffer(queue_, static_cast<cl_mem>(image),
                                            static_cast<cl_mem>(buffer), origin, region, 0, 0,
                                            nullptr, nullptr));
  }
  void finish() override { expect(api_->clFinish(queue_)); }

 private:
  static void expect(cl_int code) { EXPECT_EQ(code, CL_SUCCESS); }
  void* keep(cl_mem memory, cl_int code) {
    expect(code);
    memory_.insert(memory);
    return memory;
  }
  void* make_image(Extent2D extent, const cl_image_format& format) {
    cl_image_desc desc = {};
    desc.image_type = CL_MEM_OBJECT_IMAGE2D;
    desc.image_width = extent.width;
    desc.image_height = extent.height;
    cl_int code = CL_SUCCESS;
    return keep(api_->clCreateImage(context_, CL_MEM_READ_WRITE, &format, &desc, nullptr, &code),
                code);
  }

  std::shared_ptr<const Api> api_;
  cl_device_id device_;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  std::set<cl_mem> memory_;
};

}  // namespace

std::unique_ptr<Application> make_opencl_application(Device& device) {
  auto api = opencl::load_api(opencl::DriverOptions().loader_paths);
  EXPECT_TRUE(api.ok()) << api.status().to_string();
  return std::make_unique<OpenClApplication>(*api, device_id_of(device));
}

}  // namespace texloom::hal::conformance
