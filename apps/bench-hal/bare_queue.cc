#include "apps/bench-hal/bare_queue.h"

#include <dlfcn.h>

#include <array>
#include <utility>

#include "runtime/drivers/opencl/api/error.h"

namespace texloom::bench_hal {
namespace {

using hal::opencl::Api;
using hal::opencl::to_status;

// The functions of cl_khr_command_buffer used here, which OpenCL 1.2 headers do not declare.
// Command handles, sync points, events and properties are not used here.
using CommandBuffer = void*;
using CreateFunction = CommandBuffer(CL_API_CALL*)(cl_uint, const cl_command_queue*, const void*,
                                                   cl_int*);
using DispatchFunction = cl_int(CL_API_CALL*)(CommandBuffer, cl_command_queue, const void*,
                                              cl_kernel, cl_uint, const std::size_t*,
                                              const std::size_t*, const std::size_t*, cl_uint,
                                              const void*, void*, void*);
using FinalizeFunction = cl_int(CL_API_CALL*)(CommandBuffer);
using EnqueueFunction = cl_int(CL_API_CALL*)(cl_uint, cl_command_queue*, CommandBuffer, cl_uint,
                                             const cl_event*, cl_event*);
using ReleaseFunction = cl_int(CL_API_CALL*)(CommandBuffer);
using FindFunction = void*(CL_API_CALL*)(cl_platform_id, const char*);

struct Extension {
  CreateFunction create = nullptr;
  DispatchFunction dispatch = nullptr;
  FinalizeFunction finalize = nullptr;
  EnqueueFunction enqueue = nullptr;
  ReleaseFunction release = nullptr;
};

Result<Extension> find_extension(cl_platform_id platform, const std::vector<std::string>& paths) {
  FindFunction find = nullptr;
  for (const std::string& path : paths) {
    void* library = find == nullptr ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (library == nullptr) continue;
    find =
        reinterpret_cast<FindFunction>(dlsym(library, "clGetExtensionFunctionAddressForPlatform"));
  }
  const auto function = [&]<typename Function>(const char* name, Function& found) {
    found = find == nullptr ? nullptr : reinterpret_cast<Function>(find(platform, name));
    return found != nullptr;
  };
  Extension extension;
  if (!function("clCreateCommandBufferKHR", extension.create) ||
      !function("clCommandNDRangeKernelKHR", extension.dispatch) ||
      !function("clFinalizeCommandBufferKHR", extension.finalize) ||
      !function("clEnqueueCommandBufferKHR", extension.enqueue) ||
      !function("clReleaseCommandBufferKHR", extension.release))
    return make_error(StatusCode::Unimplemented, "cl_khr_command_buffer is not available");
  return extension;
}

Result<bool> has_extension(const Api& api, cl_device_id device) {
  std::size_t size = 0;
  TL_RETURN_IF_ERROR(to_status(api.clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, 0, nullptr, &size),
                               "clGetDeviceInfo"));
  std::string names(size, '\0');
  TL_RETURN_IF_ERROR(
      to_status(api.clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, size, names.data(), nullptr),
                "clGetDeviceInfo"));
  return names.find("cl_khr_command_buffer ") != std::string::npos ||
         names.ends_with(std::string("cl_khr_command_buffer") + '\0');
}

class RecordedDispatches final : public BareQueue::Recorded {
 public:
  RecordedDispatches(std::shared_ptr<const Api> api, cl_command_queue queue,
                     const Extension& extension)
      : api_(std::move(api)), queue_(queue), extension_(extension) {}
  RecordedDispatches(const RecordedDispatches&) = delete;
  RecordedDispatches& operator=(const RecordedDispatches&) = delete;
  ~RecordedDispatches() override {
    if (commands_ != nullptr) extension_.release(commands_);
  }

  Status record(cl_kernel kernel, int dispatches) {
    cl_int code = CL_SUCCESS;
    commands_ = extension_.create(1, &queue_, nullptr, &code);
    TL_RETURN_IF_ERROR(to_status(code, "clCreateCommandBufferKHR"));
    const std::size_t items = kEmptyKernelItems;
    for (int i = 0; i < dispatches; ++i) {
      TL_RETURN_IF_ERROR(
          to_status(extension_.dispatch(commands_, nullptr, nullptr, kernel, 1, nullptr, &items,
                                        &items, 0, nullptr, nullptr, nullptr),
                    "clCommandNDRangeKernelKHR"));
    }
    return to_status(extension_.finalize(commands_), "clFinalizeCommandBufferKHR");
  }

  Status run() override {
    TL_RETURN_IF_ERROR(to_status(extension_.enqueue(0, nullptr, commands_, 0, nullptr, nullptr),
                                 "clEnqueueCommandBufferKHR"));
    return to_status(api_->clFinish(queue_), "clFinish");
  }

 private:
  std::shared_ptr<const Api> api_;
  cl_command_queue queue_;
  Extension extension_;
  CommandBuffer commands_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<BareQueue>> BareQueue::create(const std::shared_ptr<const Api>& api,
                                                     const hal::opencl::PlatformDevice& device) {
  std::unique_ptr<BareQueue> queue(new BareQueue);
  TL_RETURN_IF_ERROR(queue->make(api, device).with_context("the bare loop"));
  return queue;
}

Status BareQueue::make(const std::shared_ptr<const Api>& api,
                       const hal::opencl::PlatformDevice& device) {
  api_ = api;
  device_ = device;
  cl_int code = CL_SUCCESS;
  context_ = {api, api->clCreateContext(nullptr, 1, &device.device, nullptr, nullptr, &code)};
  TL_RETURN_IF_ERROR(to_status(code, "clCreateContext"));
  queue_ = {api, api->clCreateCommandQueue(context_.get(), device.device, 0, &code)};
  TL_RETURN_IF_ERROR(to_status(code, "clCreateCommandQueue"));
  for (hal::opencl::MemoryHandle* memory : {&a_, &b_}) {
    *memory = {api, api->clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, kEmptyKernelBytes,
                                        nullptr, &code)};
    TL_RETURN_IF_ERROR(to_status(code, "clCreateBuffer"));
  }
  const char* source = kEmptyKernel;
  program_ = {api, api->clCreateProgramWithSource(context_.get(), 1, &source, nullptr, &code)};
  TL_RETURN_IF_ERROR(to_status(code, "clCreateProgramWithSource"));
  TL_RETURN_IF_ERROR(
      to_status(api->clBuildProgram(program_.get(), 1, &device.device, "", nullptr, nullptr),
                "clBuildProgram"));
  TL_ASSIGN_OR_RETURN(kernel_, make_kernel());
  return {};
}

Result<hal::opencl::KernelHandle> BareQueue::make_kernel() const {
  cl_int code = CL_SUCCESS;
  hal::opencl::KernelHandle kernel(api_, api_->clCreateKernel(program_.get(), "nothing", &code));
  TL_RETURN_IF_ERROR(to_status(code, "clCreateKernel"));
  return kernel;
}

Status BareQueue::set_arguments(cl_kernel kernel, int n) {
  const cl_mem a = a_.get();
  const cl_mem b = b_.get();
  cl_int code = api_->clSetKernelArg(kernel, 0, sizeof a, &a);
  if (code == CL_SUCCESS) code = api_->clSetKernelArg(kernel, 1, sizeof b, &b);
  if (code == CL_SUCCESS) code = api_->clSetKernelArg(kernel, 2, sizeof n, &n);
  return to_status(code, "clSetKernelArg");
}

Status BareQueue::enqueue(cl_kernel kernel) {
  // Three axes, as the HAL passes them.
  const std::array<std::size_t, 3> items = {kEmptyKernelItems, 1, 1};
  return to_status(api_->clEnqueueNDRangeKernel(queue_.get(), kernel, 3, nullptr, items.data(),
                                                items.data(), 0, nullptr, nullptr),
                   "clEnqueueNDRangeKernel");
}

Status BareQueue::run(int dispatches) {
  for (int i = 0; i < dispatches; ++i) {
    TL_RETURN_IF_ERROR(set_arguments(kernel_.get(), i));
    TL_RETURN_IF_ERROR(enqueue(kernel_.get()));
  }
  return to_status(api_->clFinish(queue_.get()), "clFinish");
}

Status BareQueue::preset(int dispatches) {
  preset_.clear();
  for (int i = 0; i < dispatches; ++i) {
    TL_ASSIGN_OR_RETURN(auto kernel, make_kernel());
    TL_RETURN_IF_ERROR(set_arguments(kernel.get(), i));
    preset_.push_back(std::move(kernel));
  }
  return {};
}

Status BareQueue::run_preset() {
  for (const hal::opencl::KernelHandle& kernel : preset_) TL_RETURN_IF_ERROR(enqueue(kernel.get()));
  return to_status(api_->clFinish(queue_.get()), "clFinish");
}

Result<std::unique_ptr<BareQueue::Recorded>> BareQueue::record(
    int dispatches, const std::vector<std::string>& loader_paths) {
  TL_ASSIGN_OR_RETURN(const bool has, has_extension(*api_, device_.device));
  if (!has) return make_error(StatusCode::Unimplemented, "the device lacks cl_khr_command_buffer");
  TL_ASSIGN_OR_RETURN(const Extension extension, find_extension(device_.platform, loader_paths));
  TL_RETURN_IF_ERROR(set_arguments(kernel_.get(), 0));
  auto recorded = std::make_unique<RecordedDispatches>(api_, queue_.get(), extension);
  TL_RETURN_IF_ERROR(recorded->record(kernel_.get(), dispatches));
  return std::unique_ptr<Recorded>(std::move(recorded));
}

}  // namespace texloom::bench_hal
