// Tests each row of the quirk table on a mock device: how the driver avoids the feature that these
// devices get wrong.
#include "runtime/drivers/opencl/platform/quirks.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "runtime/drivers/opencl/kernels/builtin_declarations.h"
#include "tests/runtime/drivers/opencl/replaced_call_fixture.h"

namespace texloom::hal::opencl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// The quirk understated-workgroup-limit: the device's reported limit applies only to kernels that
// do not require a workgroup size.
TEST_F(ReplacedCallTest, AnUnderstatedWorkgroupLimitDoesNotHoldForARequiredSize) {
  open_with([](Api& api) {
    api.clGetKernelWorkGroupInfo = [](cl_kernel kernel, cl_device_id device,
                                      cl_kernel_work_group_info name, std::size_t bytes,
                                      void* value, std::size_t* size) -> cl_int {
      const cl_int code = real.clGetKernelWorkGroupInfo(kernel, device, name, bytes, value, size);
      if (name == CL_KERNEL_WORK_GROUP_SIZE) *static_cast<std::size_t*>(value) = 6;
      return code;
    };
    pretend_nvidia(api);
  });
  ASSERT_TRUE(has_quirk(device_->info(), kUnderstatedWorkgroupLimit));
  EntryPoint entry = advance_entry();
  entry.workgroup_size = {7, 1, 1};
  std::string source = kAdvanceSource;
  const auto status = [&] {
    return device_->create_executable({.codes = opencl_c(source), .entry_points = {entry}})
        .status();
  };
  EXPECT_THAT(status(), fails_with(StatusCode::InvalidArgument, "runs this kernel with at most 6"));
  source.insert(source.find(' '), " __attribute__((reqd_work_group_size(7, 1, 1)))");
  TL_ASSERT_OK(status());
}

std::atomic<int> builds = 0, most_builds = 0;

// The quirk one-build-at-a-time: threads that create executables wait for each other's builds.
TEST_F(ReplacedCallTest, QuirkOneBuildAtATime) {
  open_with([](Api& api) {
    api.clGetPlatformInfo = [](cl_platform_id platform, cl_platform_info name, std::size_t bytes,
                               void* value, std::size_t* size) -> cl_int {
      const cl_int code = real.clGetPlatformInfo(platform, name, bytes, value, size);
      if (name == CL_PLATFORM_NAME && value != nullptr && bytes >= 9)
        std::memcpy(value, "Oclgrind", 9);
      return code;
    };
    api.clBuildProgram = [](cl_program program, cl_uint count, const cl_device_id* devices,
                            const char* options, auto notify, void* data) -> cl_int {
      const int now = ++builds;
      if (now > most_builds) most_builds = now;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      const cl_int code = real.clBuildProgram(program, count, devices, options, notify, data);
      --builds;
      return code;
    };
  });
  ASSERT_TRUE(has_quirk(device_->info(), kOneBuildAtATime));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const std::string source = fmt::format("__kernel void f() {{ /* {} */ }}", i);
      TL_EXPECT_OK(device_
                       ->create_executable({.codes = opencl_c(source),
                                            .entry_points = {{.name = "f", .params = {}}}})
                       .status());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most_builds, 1);
}

// The device's compiler fails to describe arguments of a kernel that has none.
TEST_F(ReplacedCallTest, QuirkUndescribableKernels) {
  open_with([](Api& api) {
    pretend_nvidia(api);
    api.clBuildProgram = [](cl_program program, cl_uint count, const cl_device_id* devices,
                            const char* options, auto notify, void* data) -> cl_int {
      if (std::string_view(options).find("-cl-kernel-arg-info") != std::string_view::npos)
        return CL_BUILD_PROGRAM_FAILURE;
      return real.clBuildProgram(program, count, devices, options, notify, data);
    };
  });
  const auto create = [&](const char* source) {
    return device_
        ->create_executable(
            {.codes = opencl_c(source), .entry_points = {{.name = "f", .params = {}}}})
        .status();
  };
  TL_ASSERT_OK(create("__kernel void f() { }"));
  EXPECT_EQ(create("__kernel void f() { what }").code(), StatusCode::BuildFailed);
}

std::vector<std::string> options_of_builds;

// Programs are built without the compiler's header of built-in functions. A program that calls a
// function without a declaration in the driver is built with the header. If the driver does not see
// that call, it builds the program twice.
TEST_F(ReplacedCallTest, QuirkSlowBuiltinHeader) {
  open_with([](Api& api) {
    api.clBuildProgram = [](cl_program program, cl_uint count, const cl_device_id* devices,
                            const char* options, auto notify, void* data) -> cl_int {
      options_of_builds.emplace_back(options);
      return real.clBuildProgram(program, count, devices, options, notify, data);
    };
  });
  if (!has_quirk(device_->info(), kSlowBuiltinHeader)) GTEST_SKIP() << "another implementation";
  const auto create = [&](const char* source) {
    options_of_builds.clear();
    return device_
        ->create_executable(
            {.codes = opencl_c(source), .entry_points = {{.name = "f", .params = {}}}})
        .status();
  };
  const auto without_header = HasSubstr(std::string(kNoBuiltinHeader));
  TL_EXPECT_OK(create("__kernel void f() { float x = exp(fabs((float)get_global_id(0))); }"));
  EXPECT_THAT(options_of_builds, ElementsAre(without_header));
  TL_EXPECT_OK(create("__kernel void f() { float x = degrees((float)get_global_id(0)); }"));
  EXPECT_THAT(options_of_builds, ElementsAre(Not(without_header)));
  TL_EXPECT_OK(
      create("#define CALL(f, x) f(x)\n"
             "__kernel void f() { float x = CALL(exp, (float)get_global_id(0)); }"));
  EXPECT_THAT(options_of_builds, ElementsAre(without_header, Not(without_header)));
  EXPECT_THAT(create("__kernel void f() { what }"), fails_with(StatusCode::BuildFailed, "what"));
}

// The device accepts a rectangle only if the buffer includes the gap after the last row.
TEST_F(ReplacedCallTest, QuirkWholeLastRow) {
  open_with([](Api& api) {
    pretend_nvidia(api);
    api.clCreateBuffer = [](cl_context context, cl_mem_flags flags, std::size_t bytes, void* host,
                            cl_int* error) -> cl_mem {
      const cl_mem made = real.clCreateBuffer(context, flags, bytes, host, error);
      buffer_bytes[made] = bytes;
      return made;
    };
    api.clEnqueueCopyBufferRect =
        [](cl_command_queue queue, cl_mem source, cl_mem target, const std::size_t* from,
           const std::size_t* to, const std::size_t* region, std::size_t source_pitch,
           std::size_t source_slice, std::size_t target_pitch, std::size_t target_slice,
           cl_uint waits, const cl_event* events, cl_event* done) -> cl_int {
      const auto fits = [&](cl_mem memory, const std::size_t* origin, std::size_t pitch) {
        return origin[0] + (origin[1] + region[1]) * pitch <= buffer_bytes[memory];
      };
      if (!fits(source, from, source_pitch) || !fits(target, to, target_pitch))
        return CL_INVALID_VALUE;
      return real.clEnqueueCopyBufferRect(queue, source, target, from, to, region, source_pitch,
                                          source_slice, target_pitch, target_slice, waits, events,
                                          done);
    };
  });
  const Bytes data = random_bytes(3 + 2 * 21 + 16, 1);  // ends at the end of the last of three rows
  const auto buffer = make_buffer(data);
  const auto back = make_buffer(Bytes(data.size(), std::byte{0}));
  const auto texture = make_texture({1, 3}, TexelFormat::Rgba32Float);
  const BufferTextureRegion region{.extent = {1, 3}, .buffer_offset = 3, .row_pitch = 21};
  const auto commands = device_->create_command_buffer();
  TL_ASSERT_OK(commands->copy_buffer_to_texture(buffer, texture, region));
  TL_ASSERT_OK(commands->copy_texture_to_buffer(texture, back, region));
  TL_ASSERT_OK(run(commands));
  const Bytes copied = content_of(back);
  for (const std::size_t row : {3U, 24U, 45U})
    EXPECT_TRUE(std::equal(&data[row], &data[row] + 16, &copied[row])) << row;
}

}  // namespace
}  // namespace texloom::hal::opencl
