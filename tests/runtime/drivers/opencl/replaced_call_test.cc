// Tests OpenCL calls that fail, and which calls are made or avoided.

#include <algorithm>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include "runtime/drivers/opencl/platform/quirks.h"
#include "tests/runtime/drivers/opencl/replaced_call_fixture.h"

namespace texloom::hal::opencl {
namespace {

TEST_F(ReplacedCallTest, FailedSubmitIsNamedAndTheNextOneWorks) {
  open_with([](Api& api) {
    count_calls<&Api::clFinish>(real, api);
    api.clEnqueueNDRangeKernel = [](cl_command_queue queue, cl_kernel kernel, cl_uint axes,
                                    const std::size_t* offset, const std::size_t* global,
                                    const std::size_t* local, cl_uint count, const cl_event* wait,
                                    cl_event* event) -> cl_int {
      if (fail) return CL_OUT_OF_RESOURCES;
      return real.clEnqueueNDRangeKernel(queue, kernel, axes, offset, global, local, count, wait,
                                         event);
    };
  });
  const auto executable = make_executable(kAdvanceSource, advance_entry());
  const auto buffer = make_buffer(Bytes(sizeof(int), std::byte{0}));
  const int finishes = calls_of<&Api::clFinish>();
  fail = true;
  TL_ASSERT_OK(device_->queue()->submit(advance_commands(executable, buffer, 1)));
  EXPECT_THAT(
      device_->queue()->wait_idle(),
      fails_with(StatusCode::DeviceError,
                 "submit: kernel \"advance\": clEnqueueNDRangeKernel: CL_OUT_OF_RESOURCES"));
  // The queue waited for the earlier commands, since they may read the caller's memory.
  EXPECT_EQ((calls_of<&Api::clFinish>()), finishes + 1);
  fail = false;
  TL_ASSERT_OK(device_->queue()->wait_idle());
  TL_ASSERT_OK(device_->queue()->submit(advance_commands(executable, buffer, 5)));
  EXPECT_EQ(values_of<int>(buffer), std::vector<int>{5});
}

TEST_F(ReplacedCallTest, ErrorOfAsynchronousWorkIsReportedOnce) {
  open_with([](Api& api) {
    api.clGetEventInfo = [](cl_event event, cl_event_info name, std::size_t bytes, void* value,
                            std::size_t* size) -> cl_int {
      const cl_int code = real.clGetEventInfo(event, name, bytes, value, size);
      if (fail) *static_cast<cl_int*>(value) = CL_MEM_OBJECT_ALLOCATION_FAILURE;
      return code;
    };
  });
  const auto executable = make_executable(kAdvanceSource, advance_entry());
  const auto buffer = make_buffer(64);
  fail = true;
  TL_ASSERT_OK(device_->queue()->submit(advance_commands(executable, buffer, 1)));
  EXPECT_THAT(device_->queue()->wait_idle(),
              fails_with(StatusCode::OutOfMemory,
                         "running a command buffer: CL_MEM_OBJECT_ALLOCATION_FAILURE"));
  fail = false;
  TL_ASSERT_OK(device_->queue()->wait_idle());
}

TEST_F(ReplacedCallTest, AllocationsKeepTheDriversWords) {
  open_with([](Api& api) {
    api.clCreateBuffer = [](cl_context context, cl_mem_flags flags, std::size_t bytes, void* host,
                            cl_int* code) -> cl_mem {
      if (!fail) return real.clCreateBuffer(context, flags, bytes, host, code);
      *code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
      return nullptr;
    };
    api.clCreateImage = [](cl_context, cl_mem_flags, const cl_image_format*, const cl_image_desc*,
                           void*, cl_int* code) -> cl_mem {
      *code = CL_OUT_OF_HOST_MEMORY;
      return nullptr;
    };
  });
  fail = true;
  EXPECT_THAT(device_->create_buffer({.bytes = 12}).status(),
              fails_with(StatusCode::OutOfMemory,
                         "a buffer of 12 bytes: clCreateBuffer: CL_MEM_OBJECT_ALLOCATION_FAILURE"));
  EXPECT_THAT(device_->create_texture({.extent = {3, 2}}).status(),
              fails_with(StatusCode::OutOfMemory,
                         "a texture rgba32float of 3x2 texels: clCreateImage: "
                         "CL_OUT_OF_HOST_MEMORY"));
}

// NVIDIA's driver crashes if sub-buffers are released in the order of their creation.
TEST_F(ReplacedCallTest, PartsOfABufferAreReleasedInTheReverseOrderOfTheirCreation) {
  static std::vector<cl_mem> made, released;
  made = released = {};
  open_with([](Api& api) {
    api.clCreateSubBuffer = [](cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type,
                               const void* region, cl_int* code) -> cl_mem {
      return made.emplace_back(real.clCreateSubBuffer(buffer, flags, type, region, code));
    };
    api.clReleaseMemObject = [](cl_mem memory) -> cl_int {
      if (std::ranges::find(made, memory) != made.end()) released.push_back(memory);
      return real.clReleaseMemObject(memory);
    };
  });
  const auto executable = make_executable(kAdvanceSource, advance_entry());
  const std::uint64_t step = device_->info().limits.buffer_offset_alignment;
  auto buffer = make_buffer(4 * step);
  for (const std::uint64_t place : {2, 1, 3, 1}) {
    const auto commands = device_->create_command_buffer({.reusable = true});
    TL_ASSERT_OK(commands->dispatch(executable, 0, {1, 1, 1},
                                    {{BufferBinding{buffer, place * step}}}, {{Constant(1)}}));
    TL_ASSERT_OK(run(commands));
  }
  EXPECT_EQ(made.size(), 3);
  EXPECT_EQ(released.size(), 0);
  buffer.reset();
  std::ranges::reverse(made);
  EXPECT_EQ(released, made);
}

// If the device supports no format, textures are unimplemented.
TEST_F(ReplacedCallTest, FormatsThatTheDeviceLacksAreUnimplemented) {
  open_with([](Api& api) {
    api.clGetSupportedImageFormats = [](cl_context, cl_mem_flags, cl_mem_object_type, cl_uint,
                                        cl_image_format*, cl_uint* count) -> cl_int {
      *count = 0;
      return CL_SUCCESS;
    };
  });
  EXPECT_FALSE(device_->supports(TexelFormat::Rgba32Float, TextureUsage::Sampled));
  EXPECT_THAT(device_->create_texture({.extent = {3, 2}}).status(),
              fails_with(StatusCode::Unimplemented, "no textures of rgba32float"));
}

// Entry points are checked against the limits of the compiled kernel, not only the device's.
TEST_F(ReplacedCallTest, WorkgroupAndLocalMemoryOfTheCompiledKernel) {
  open_with([](Api& api) {
    api.clGetKernelWorkGroupInfo = [](cl_kernel kernel, cl_device_id device,
                                      cl_kernel_work_group_info name, std::size_t bytes,
                                      void* value, std::size_t* size) -> cl_int {
      const cl_int code = real.clGetKernelWorkGroupInfo(kernel, device, name, bytes, value, size);
      if (!fail && name == CL_KERNEL_WORK_GROUP_SIZE) *static_cast<std::size_t*>(value) = 6;
      if (fail && name == CL_KERNEL_LOCAL_MEM_SIZE) *static_cast<cl_ulong*>(value) = 1u << 30;
      return code;
    };
  });
  EntryPoint entry = advance_entry();
  std::string source = kAdvanceSource;
  const auto status = [&] {
    return device_->create_executable({.codes = opencl_c(source), .entry_points = {entry}})
        .status();
  };
  entry.workgroup_size = {3, 2, 1};
  TL_ASSERT_OK(status());
  entry.workgroup_size = {7, 1, 1};
  EXPECT_THAT(status(), fails_with(StatusCode::InvalidArgument,
                                   "kernel \"advance\": a workgroup has 7 x 1 x 1 work items"));
  source.insert(source.find(' '), " __attribute__((reqd_work_group_size(7, 1, 1)))");
  if (!has_quirk(device_->info(), kUnderstatedWorkgroupLimit)) {
    EXPECT_THAT(status(),
                fails_with(StatusCode::InvalidArgument, "runs this kernel with at most 6"));
  }
  source = kAdvanceSource;
  entry.workgroup_size = {3, 2, 1};
  fail = true;
  EXPECT_THAT(status(),
              fails_with(StatusCode::InvalidArgument, "1073741824 bytes of local memory"));
}

// An in-order queue needs no barriers, and adjacent small updates are merged into one write.
TEST_F(ReplacedCallTest, NeighboringUpdatesAreOneWrite) {
  open_with([](Api& api) {
    count_calls<&Api::clEnqueueWriteBuffer>(real, api);
    count_calls<&Api::clWaitForEvents>(real, api);
    count_calls<&Api::clFinish>(real, api);
  });
  if (device_ == nullptr) return;
  const Bytes data = random_bytes(8192, 1);
  const std::span<const std::byte> all = data;
  const auto buffer = make_buffer(Bytes(16384));
  const auto submit = [&](const std::function<void(CommandBuffer&)>& record) {
    const auto commands = device_->create_command_buffer({.barriers = Barriers::Explicit});
    record(*commands);
    const int writes = calls_of<&Api::clEnqueueWriteBuffer>();
    const int waits = calls_of<&Api::clWaitForEvents, &Api::clFinish>();
    EXPECT_TRUE(run(commands).ok());
    EXPECT_EQ((calls_of<&Api::clWaitForEvents, &Api::clFinish>()), waits + 1);
    return calls_of<&Api::clEnqueueWriteBuffer>() - writes;
  };
  EXPECT_EQ(submit([&](CommandBuffer& commands) {
              for (std::size_t i = 0; i < 10; ++i) {
                EXPECT_TRUE(commands.update(buffer, 10 * i, all.subspan(10 * i, 10)).ok());
                EXPECT_TRUE(commands.barrier().ok());
              }
            }),
            1);
  Bytes content = content_of(buffer);
  EXPECT_TRUE(std::equal(data.begin(), data.begin() + 100, content.begin()));
  EXPECT_EQ(content[100], std::byte{0});
  // A gap, a large update, and another command each end a sequence of merged updates.
  EXPECT_EQ(submit([&](CommandBuffer& commands) {
              EXPECT_TRUE(commands.update(buffer, 0, all.first(10)).ok());
              EXPECT_TRUE(commands.update(buffer, 20, all.first(10)).ok());
              EXPECT_TRUE(commands.update(buffer, 30, all.first(5000)).ok());
              EXPECT_TRUE(commands.update(buffer, 5030, all.first(10)).ok());
              EXPECT_TRUE(commands.copy_buffer(buffer, 0, buffer, 6000, 10).ok());
              EXPECT_TRUE(commands.update(buffer, 5040, all.first(10)).ok());
            }),
            5);
}

// On a device that needs multiples of four bytes, kernels transfer only the odd bytes.
TEST_F(ReplacedCallTest, KernelsDoOnlyWhatTheDriverCannot) {
  open_with(
      [](Api& api) {
        count_calls<&Api::clEnqueueCopyBuffer>(real, api);
        count_calls<&Api::clEnqueueFillBuffer>(real, api);
        count_calls<&Api::clEnqueueNDRangeKernel>(real, api);
      },
      {.transfer_alignment = 4});
  if (device_ == nullptr) return;
  const auto buffer = make_buffer(Bytes(64));
  using Calls = std::array<int, 3>;  // copies, fills, kernels
  const auto calls = [] {
    return Calls{calls_of<&Api::clEnqueueCopyBuffer>(), calls_of<&Api::clEnqueueFillBuffer>(),
                 calls_of<&Api::clEnqueueNDRangeKernel>()};
  };
  const auto made_for = [&](const std::function<Status(CommandBuffer&)>& record) {
    const auto commands = device_->create_command_buffer();
    EXPECT_TRUE(record(*commands).ok());
    const Calls before = calls();
    EXPECT_TRUE(run(commands).ok());
    Calls made = calls();
    for (std::size_t i = 0; i < made.size(); ++i) made[i] -= before[i];
    return made;
  };
  const auto copy = [&](std::uint64_t from, std::uint64_t to, std::uint64_t bytes) {
    return made_for([&](CommandBuffer& commands) {
      return commands.copy_buffer(buffer, from, buffer, to, bytes);
    });
  };
  EXPECT_EQ(copy(0, 32, 8), (Calls{1, 0, 0}));
  EXPECT_EQ(copy(1, 32, 8), (Calls{0, 0, 1}));
  EXPECT_EQ(copy(0, 33, 8), (Calls{0, 0, 1}));
  EXPECT_EQ(copy(0, 32, 7), (Calls{0, 0, 1}));
  const auto fill = [&](std::uint64_t offset, std::uint64_t bytes) {
    return made_for([&](CommandBuffer& commands) {
      return commands.fill(buffer, offset, bytes, std::array{std::byte{1}});
    });
  };
  EXPECT_EQ(fill(4, 8), (Calls{0, 1, 0}));
  EXPECT_EQ(fill(5, 8), (Calls{0, 0, 1}));
  EXPECT_EQ(fill(4, 7), (Calls{0, 0, 1}));
}

TEST_F(ReplacedCallTest, AProgramThatIsNotMadeKeepsTheDriversWords) {
  open_with([](Api& api) {
    api.clCreateProgramWithBinary = [](cl_context, cl_uint, const cl_device_id*, const std::size_t*,
                                       const unsigned char**, cl_int*, cl_int* code) -> cl_program {
      *code = CL_OUT_OF_HOST_MEMORY;
      return nullptr;
    };
  });
  EXPECT_THAT(
      device_
          ->create_executable({.codes = {{.format = KernelFormat::OpenClBinary, .code = "any"}},
                               .entry_points = {advance_entry()}})
          .status(),
      fails_with(StatusCode::OutOfMemory, "clCreateProgramWithBinary: CL_OUT_OF_HOST_MEMORY"));
}

// A callback blocks the first queue's completion thread, so the host does not know of the signal
// when the second queue starts.
TEST_F(ReplacedCallTest, QueuesWaitForEachOthersEvents) {
  open_with([](Api& api) { count_calls<&Api::clEnqueueBarrierWithWaitList>(real, api); });
  const auto second = *device_->create_queue();
  const auto executable = make_executable(kAdvanceSource, advance_entry());
  const auto buffer = make_buffer(Bytes(16 * sizeof(int), std::byte{0}));
  const auto held = *device_->create_semaphore(), signaled = *device_->create_semaphore();
  const auto done = *device_->create_semaphore();
  std::promise<void> go_on;
  held->when_reached(1, [&](const Status&) { go_on.get_future().wait(); });
  const auto submit = [&](Queue& queue, std::vector<TimelinePoint> waits, int k,
                          const std::shared_ptr<Semaphore>& semaphore) {
    return queue.submit(
        {std::move(waits), {advance_commands(executable, buffer, k)}, {{semaphore, 1}}});
  };
  TL_ASSERT_OK(submit(*device_->queue(), {}, 1, held));
  TL_ASSERT_OK(submit(*device_->queue(), {}, 2, signaled));
  TL_ASSERT_OK(submit(*second, {{signaled, 1}}, 3, done));
  for (int i = 0; i < 10000 && calls_of<&Api::clEnqueueBarrierWithWaitList>() == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ((calls_of<&Api::clEnqueueBarrierWithWaitList>()), 1);
  EXPECT_EQ(*signaled->value(), 0U);
  go_on.set_value();
  TL_ASSERT_OK(done->wait(1));
  EXPECT_EQ(values_of<int>(buffer), std::vector<int>(16, 3 * (3 * 1 + 2) + 3));
}

TEST_F(ReplacedCallTest, EveryObjectIsReleased) {
  open_with([](Api& api) {
    count_calls<&Api::clCreateContext>(real, api);
    count_calls<&Api::clReleaseContext>(real, api);
    count_calls<&Api::clCreateCommandQueue>(real, api);
    count_calls<&Api::clReleaseCommandQueue>(real, api);
    count_calls<&Api::clCreateBuffer>(real, api);
    count_calls<&Api::clCreateSubBuffer>(real, api);
    count_calls<&Api::clCreateImage>(real, api);
    count_calls<&Api::clReleaseMemObject>(real, api);
    count_calls<&Api::clCreateProgramWithSource>(real, api);
    count_calls<&Api::clReleaseProgram>(real, api);
    count_calls<&Api::clCreateKernel>(real, api);
    count_calls<&Api::clReleaseKernel>(real, api);
    count_calls<&Api::clFlush>(real, api);
    count_calls<&Api::clReleaseEvent>(real, api);
  });
  {
    const auto executable = make_executable(kAdvanceSource, advance_entry());
    const std::uint64_t offset = device_->info().limits.buffer_offset_alignment;
    const auto buffer = make_buffer(4 * offset);
    const auto texture = make_texture({4, 4}, TexelFormat::Rgba8Int);
    const auto commands = device_->create_command_buffer();
    // One command binds a part of a buffer, and the other needs scratch memory.
    TL_ASSERT_OK(commands->dispatch(executable, 0, {1, 1, 1}, {{BufferBinding{buffer, offset}}},
                                    {{Constant(1)}}));
    TL_ASSERT_OK(
        commands->copy_buffer_to_texture(buffer, texture, {.extent = {4, 4}, .row_pitch = 20}));
    TL_ASSERT_OK(run(commands));
  }
  device_.reset();
  EXPECT_EQ((calls_of<&Api::clCreateContext>()), 1);
  EXPECT_EQ((calls_of<&Api::clReleaseContext>()), 1);
  EXPECT_EQ((calls_of<&Api::clReleaseCommandQueue>()), 1);
  EXPECT_EQ((calls_of<&Api::clCreateSubBuffer>()), 1);
  EXPECT_EQ((calls_of<&Api::clCreateBuffer>()), 2);
  EXPECT_EQ((calls_of<&Api::clReleaseMemObject>()),
            (calls_of<&Api::clCreateBuffer, &Api::clCreateSubBuffer, &Api::clCreateImage>()));
  EXPECT_EQ((calls_of<&Api::clReleaseProgram>()), (calls_of<&Api::clCreateProgramWithSource>()));
  EXPECT_EQ((calls_of<&Api::clReleaseKernel>()), (calls_of<&Api::clCreateKernel>()));
  EXPECT_EQ((calls_of<&Api::clReleaseEvent>()), 1);  // one per submission
}

}  // namespace
}  // namespace texloom::hal::opencl
