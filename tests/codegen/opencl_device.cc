#include "tests/codegen/opencl_device.h"

#undef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <sstream>

namespace texloom::codegen::opencl::testing {
namespace {

#define TL_TEST_FUNCTIONS(X)   \
  X(clGetPlatformIDs)          \
  X(clGetDeviceIDs)            \
  X(clCreateContext)           \
  X(clCreateCommandQueue)      \
  X(clCreateProgramWithSource) \
  X(clBuildProgram)            \
  X(clGetProgramBuildInfo)     \
  X(clCreateKernel)            \
  X(clCreateBuffer)            \
  X(clCreateImage)             \
  X(clSetKernelArg)            \
  X(clEnqueueNDRangeKernel)    \
  X(clEnqueueReadBuffer)       \
  X(clEnqueueReadImage) X(clReleaseMemObject) X(clReleaseKernel) X(clReleaseProgram)

struct Device {
#define TL_TEST_MEMBER(name) decltype(&::name) name = nullptr;
  TL_TEST_FUNCTIONS(TL_TEST_MEMBER)
#undef TL_TEST_MEMBER
  cl_device_id id = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;

  Device() {
    void* library = dlopen("libOpenCL.so.1", RTLD_NOW);
    if (library == nullptr) return;
#define TL_TEST_FIND(name) name = reinterpret_cast<decltype(&::name)>(dlsym(library, #name));
    TL_TEST_FUNCTIONS(TL_TEST_FIND)
#undef TL_TEST_FIND
    cl_platform_id platform = nullptr;
    if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS) return;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &id, nullptr) != CL_SUCCESS) return;
    context = clCreateContext(nullptr, 1, &id, nullptr, nullptr, nullptr);
    queue = clCreateCommandQueue(context, id, 0, nullptr);
  }
};

const Device& device() {
  static const Device only;
  return only;
}

struct BuiltProgram {
  cl_program program = nullptr;
  std::string log;
};

// Whether the compiler warns about the source. A warning about the machine does not count: PoCL
// compiles for the host's CPU, and if it lacks AVX-512, clang warns about the ABI of long vectors.
bool has_warning(const std::string& log) {
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("warning:") != line.npos && line.find("changes the ABI") == line.npos)
      return true;
  }
  return false;
}

BuiltProgram build(const std::string& source) {
  const Device& d = device();
  if (d.queue == nullptr) return {nullptr, "no OpenCL device"};
  const char* text = source.c_str();
  BuiltProgram result{d.clCreateProgramWithSource(d.context, 1, &text, nullptr, nullptr), {}};
  const cl_int status =
      d.clBuildProgram(result.program, 1, &d.id, "-cl-std=CL1.2", nullptr, nullptr);
  size_t size = 0;
  d.clGetProgramBuildInfo(result.program, d.id, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  result.log.resize(size);
  d.clGetProgramBuildInfo(result.program, d.id, CL_PROGRAM_BUILD_LOG, size, result.log.data(),
                          nullptr);
  // Warnings are refused too: an unintended conversion is a bug.
  if (status == CL_SUCCESS && !has_warning(result.log)) {
    result.log.clear();
  } else {
    result.log += "\nerror " + std::to_string(status) + " in:\n" + source;
  }
  return result;
}

cl_channel_type channel_type(ir::Type type) {
  if (type.is_float()) return type.bits == 16 ? CL_HALF_FLOAT : CL_FLOAT;
  switch (type.bits) {
    case 8:
      return type.is_int() ? CL_SIGNED_INT8 : CL_UNSIGNED_INT8;
    case 16:
      return type.is_int() ? CL_SIGNED_INT16 : CL_UNSIGNED_INT16;
    default:
      return type.is_int() ? CL_SIGNED_INT32 : CL_UNSIGNED_INT32;
  }
}

cl_mem make_memory(const ir::BufferNode& buffer, HostArray& host) {
  const Device& d = device();
  cl_int status = CL_SUCCESS;
  const cl_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
  cl_mem memory = nullptr;
  if (buffer.is_texture()) {
    const cl_image_format format{CL_RGBA, channel_type(buffer.type)};
    cl_image_desc description{};
    description.image_type = CL_MEM_OBJECT_IMAGE2D;
    description.image_width = static_cast<size_t>(buffer.layout.col_count());
    description.image_height = static_cast<size_t>(buffer.layout.row_count());
    EXPECT_EQ(host.bytes.size(), description.image_width * description.image_height * 4 *
                                     static_cast<size_t>(buffer.type.bytes()));
    memory = d.clCreateImage(d.context, flags, &format, &description, host.bytes.data(), &status);
  } else {
    memory = d.clCreateBuffer(d.context, flags, host.bytes.size(), host.bytes.data(), &status);
  }
  EXPECT_EQ(status, CL_SUCCESS);
  return memory;
}

void read_back(const ir::BufferNode& buffer, cl_mem memory, HostArray& host) {
  const Device& d = device();
  if (!buffer.is_texture()) {
    EXPECT_EQ(d.clEnqueueReadBuffer(d.queue, memory, CL_TRUE, 0, host.bytes.size(),
                                    host.bytes.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    return;
  }
  const std::array<size_t, 3> origin{};
  const std::array<size_t, 3> region{static_cast<size_t>(buffer.layout.col_count()),
                                     static_cast<size_t>(buffer.layout.row_count()), 1};
  EXPECT_EQ(d.clEnqueueReadImage(d.queue, memory, CL_TRUE, origin.data(), region.data(), 0, 0,
                                 host.bytes.data(), 0, nullptr, nullptr),
            CL_SUCCESS);
}

}  // namespace

std::string build_log(const std::string& source) {
  const BuiltProgram built = build(source);
  if (built.program != nullptr) device().clReleaseProgram(built.program);
  return built.log;
}

void run(const compile::CompiledKernel& kernel, std::vector<HostArray>& arguments) {
  const Device& d = device();
  const BuiltProgram built = build(kernel.code->bytes);
  ASSERT_EQ(built.log, "");
  cl_int status = CL_SUCCESS;
  cl_kernel function = d.clCreateKernel(built.program, kernel.name.c_str(), &status);
  ASSERT_EQ(status, CL_SUCCESS) << kernel.name;
  ASSERT_EQ(arguments.size(), kernel.params.size());
  std::vector<cl_mem> memory;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ir::Buffer& buffer = kernel.params[i].buffer;
    memory.push_back(buffer ? make_memory(*buffer, arguments[i]) : nullptr);
    const size_t size = buffer ? sizeof(cl_mem) : arguments[i].bytes.size();
    const void* value = buffer ? static_cast<const void*>(&memory[i]) : arguments[i].bytes.data();
    ASSERT_EQ(d.clSetKernelArg(function, static_cast<cl_uint>(i), size, value), CL_SUCCESS);
  }
  std::array<size_t, 3> global{}, local{};
  for (size_t i = 0; i < 3; ++i) {
    local[i] = static_cast<size_t>(kernel.block[i]);
    global[i] = static_cast<size_t>(*ir::int_value(kernel.grid[i])) * local[i];
  }
  ASSERT_EQ(d.clEnqueueNDRangeKernel(d.queue, function, 3, nullptr, global.data(), local.data(), 0,
                                     nullptr, nullptr),
            CL_SUCCESS);
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (memory[i] == nullptr) continue;
    read_back(*kernel.params[i].buffer, memory[i], arguments[i]);
    d.clReleaseMemObject(memory[i]);
  }
  d.clReleaseKernel(function);
  d.clReleaseProgram(built.program);
}

}  // namespace texloom::codegen::opencl::testing
