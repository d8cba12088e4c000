// The queue: order, submission, threads, lifetimes, and calls of the driver that fail.
#include <atomic>
#include <functional>
#include <map>
#include <thread>

#include "runtime/drivers/opencl/api.h"
#include "runtime/drivers/opencl/quirks.h"
#include "tests/runtime/opencl_fixture.h"

namespace texloom::hal::opencl {
namespace {

constexpr const char* kAdvanceSource =
    "__kernel void advance(__global int* x, int k) {"
    "  int i = get_global_id(0); x[i] = x[i] * 3 + k; }";

EntryPoint advance_entry() {
  return {.name = "advance",
          .params = {BufferParam{.name = "x", .access = Access::ReadWrite},
                     ConstantParam{.name = "k"}}};
}

class QueueTest : public OpenClTest {
 protected:
  std::shared_ptr<CommandBuffer> advance_commands(const std::shared_ptr<Executable>& executable,
                                                  const std::shared_ptr<Buffer>& buffer, int k,
                                                  const CommandBufferDesc& desc = {}) {
    const auto commands = device_->create_command_buffer(desc);
    const auto groups = static_cast<std::uint32_t>(buffer->bytes() / sizeof(int));
    EXPECT_TRUE(
        commands
            ->dispatch(executable, 0, {groups, 1, 1}, {{BufferBinding{buffer}}}, {{Constant(k)}})
            .ok());
    EXPECT_TRUE(commands->finish().ok());
    return commands;
  }
};

// The steps do not commute, so that any other order gives another number.
TEST_F(QueueTest, CommandsAndSubmissionsRunInOrder) {
  const auto executable = make_executable(kAdvanceSource, advance_entry());
  const auto buffer = make_buffer(Bytes(16 * sizeof(int), std::byte{0}));
  std::uint32_t expected = 0;
  for (int k = 1; k <= 40; ++k) {
    TL_ASSERT_OK(device_->queue()->submit(advance_commands(executable, buffer, k)));
    expected = expected * 3 + static_cast<std::uint32_t>(k);
  }
  EXPECT_EQ(values_of<std::uint32_t>(buffer), std::vector<std::uint32_t>(16, expected));
}

TEST_F(QueueTest, FinishedCommandBuffersAreReusable) {
  const auto executable = make_executable(kAdvanceSource, advance_entry());
  const auto buffer = make_buffer(Bytes(sizeof(int), std::byte{0}));
  const auto commands = advance_commands(executable, buffer, 1, {.reusable = true});
  for (int i = 0; i < 3; ++i) TL_ASSERT_OK(device_->queue()->submit(commands));
  EXPECT_EQ(values_of<int>(buffer), std::vector<int>{1 + 3 + 9});
}

TEST_F(QueueTest, UnfinishedAndNullAreRefused) {
  const auto commands = device_->create_command_buffer();
  EXPECT_THAT(device_->queue()->submit(nullptr), fails_with(StatusCode::InvalidArgument, "null"));
  EXPECT_THAT(device_->queue()->submit(commands),
              fails_with(StatusCode::InvalidArgument, "not finished"));
  TL_ASSERT_OK(commands->finish());
  TL_ASSERT_OK(device_->queue()->submit(commands));
  EXPECT_THAT(commands->finish(), fails_with(StatusCode::InvalidArgument, "finished"));
  EXPECT_THAT(commands->update(make_buffer(4), 0, Bytes(4)),
              fails_with(StatusCode::InvalidArgument, "update: the command buffer is finished"));
}

// Two threads submit to one queue through one executable; each adds into a buffer of its own.
TEST_F(QueueTest, ThreadsShareAQueueAndAnExecutable) {
  const auto executable =
      make_executable("__kernel void add(__global int* x, int k) { x[get_global_id(0)] += k; }",
                      {.name = "add",
                       .params = {BufferParam{.name = "x", .access = Access::ReadWrite},
                                  ConstantParam{.name = "k"}}});
  constexpr int kThreads = 4, kRounds = 50;
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (int t = 0; t < kThreads; ++t)
    buffers.push_back(make_buffer(Bytes(64 * sizeof(int), std::byte{0})));
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < kRounds; ++round) {
        const auto commands = advance_commands(executable, buffers[t], t + 1);
        if (!device_->queue()->submit(commands).ok()) ++failures;
        if (round % 10 == 0 && !device_->queue()->wait_idle().ok()) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  for (int t = 0; t < kThreads; ++t)
    EXPECT_EQ(values_of<int>(buffers[t]), std::vector<int>(64, (t + 1) * kRounds));
}

TEST_F(QueueTest, EverythingMayBeReleasedWhileTheDeviceWorks) {
  std::vector<int> result(1 << 12, -1);
  {
    auto executable = make_executable(kAdvanceSource, advance_entry());
    auto buffer = make_buffer(Bytes(result.size() * sizeof(int), std::byte{0}));
    const auto queue = device_->queue();
    for (int i = 0; i < 20; ++i)
      TL_ASSERT_OK(queue->submit(advance_commands(executable, buffer, 1)));
    const auto read = device_->create_command_buffer();
    TL_ASSERT_OK(read->readback(buffer, 0, writable_bytes_of(result)));
    TL_ASSERT_OK(read->finish());
    TL_ASSERT_OK(queue->submit(read));
    driver_.reset();
    device_.reset();
  }
  // The release of the last handle of the queue waited for the readback.
  std::uint32_t expected = 0;
  for (int i = 0; i < 20; ++i) expected = expected * 3 + 1;
  EXPECT_EQ(result, std::vector<int>(1 << 12, static_cast<int>(expected)));
}

TEST_F(QueueTest, ObjectsOutliveTheirDeviceInAnyOrder) {
  auto executable = make_executable(kAdvanceSource, advance_entry());
  auto buffer = make_buffer(64);
  auto texture = make_texture({4, 4}, TexelFormat::Rgba8Int);
  auto commands = advance_commands(executable, buffer, 1);
  auto queue = device_->queue();
  driver_.reset();
  device_.reset();
  executable.reset();
  TL_ASSERT_OK(queue->submit(commands));
  commands.reset();
  TL_ASSERT_OK(queue->wait_idle());
  queue.reset();
  EXPECT_EQ(buffer->bytes(), 64u);
  buffer.reset();
  EXPECT_FALSE(texture->device_info().name.empty());
}

// The real functions, of which some are replaced: by one that fails when told to, by one that
// counts.
class ReplacedCallTest : public QueueTest {
 protected:
  static inline std::atomic<bool> fail = false;
  static inline Api real = {};
  static inline std::map<cl_mem, std::size_t> buffer_bytes;

  void open_with(const std::function<void(Api&)>& replace) {
    if (driver_ == nullptr) return;
    const std::vector<std::string> paths = DriverOptions().loader_paths;
    const auto loaded = load_api(paths);
    ASSERT_TRUE(loaded.ok());
    real = **loaded;
    const auto api = std::make_shared<Api>(real);
    replace(*api);
    fail = false;
    const auto driver = create_driver(std::shared_ptr<const Api>(api));
    ASSERT_TRUE(driver.ok());
    device_ = *(*driver)->open(0);
  }
  void TearDown() override { fail = false; }

  // For rows of the quirk table.
  static void pretend_nvidia(Api& api) {
    api.clGetDeviceInfo = [](cl_device_id device, cl_device_info name, std::size_t bytes,
                             void* value, std::size_t* size) -> cl_int {
      constexpr std::string_view kVendor("NVIDIA Corporation\0", 19);
      if (name != CL_DEVICE_VENDOR) return real.clGetDeviceInfo(device, name, bytes, value, size);
      if (size != nullptr) *size = kVendor.size();
      if (value != nullptr) kVendor.copy(static_cast<char*>(value), bytes);
      return CL_SUCCESS;
    };
  }
};

// Puts a function that counts its calls, and makes them, in a member's place.
template <auto Member>
struct Counted;
template <typename R, typename... Args, R (CL_API_CALL* Api::*Member)(Args...)>
struct Counted<Member> {
  static inline int calls = 0;
  static inline const Api* real = nullptr;
  static R CL_API_CALL call(Args... args) {
    ++calls;
    return (real->*Member)(args...);
  }
};

template <auto Member>
void count_calls(const Api& real, Api& api) {
  Counted<Member>::calls = 0;
  Counted<Member>::real = &real;
  api.*Member = Counted<Member>::call;
}

template <auto... Members>
int calls_of() {
  return (Counted<Members>::calls + ...);
}

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
  // It waited for what was enqueued before, since that may read memory that the caller lent.
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

// A device that says it has no format at all.
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

// Tables are checked against what the kernel can run with, not only against the device.
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
                                   "kernel \"advance\": a workgroup of 7 x 1 x 1 work items"));
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

// The quirk understated-workgroup-limit: on such a device the limit counts for kernels alone that
// do not require a size.
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

// The driver's compiler breaks on a kernel without arguments when it is to describe arguments.
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

// The driver takes a rectangle only with the gap behind its last row.
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
  const Bytes data = random_bytes(3 + 2 * 21 + 16, 1);  // ends with the last of three rows
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

// What seeing neighbours spares: an in-order queue needs no barriers, and small updates that lie
// one behind the other are one write.
TEST_F(ReplacedCallTest, NeighbouringUpdatesAreOneWrite) {
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
  // A gap, a large one, and another command in between end a run.
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

// A host call sees what is before it, and what is behind it sees what the call wrote.
TEST_F(QueueTest, HostCallsStandInOrder) {
  const auto executable = make_executable(kAdvanceSource, advance_entry());
  const auto buffer = make_buffer(Bytes(sizeof(int), std::byte{0}));
  std::vector<int> first(1, -1), second(1, -1);
  const auto commands = device_->create_command_buffer();
  const auto advance = [&](int k) {
    return commands->dispatch(executable, 0, {1, 1, 1}, {{BufferBinding{buffer}}}, {{Constant(k)}});
  };
  std::vector<int> seen;
  std::vector<int> lent(1, 0);
  TL_ASSERT_OK(advance(5));
  TL_ASSERT_OK(commands->readback(buffer, 0, writable_bytes_of(first)));
  TL_ASSERT_OK(commands->host_call([&] {
    seen.push_back(first[0]);
    lent[0] = 100;
    return Status();
  }));
  TL_ASSERT_OK(commands->update(buffer, 0, bytes_of(lent), HostMemory::Borrowed));
  TL_ASSERT_OK(advance(1));
  TL_ASSERT_OK(commands->readback(buffer, 0, writable_bytes_of(second)));
  TL_ASSERT_OK(commands->host_call([&] {
    seen.push_back(second[0]);
    return Status();
  }));
  TL_ASSERT_OK(run(commands));
  EXPECT_EQ(seen, (std::vector<int>{5, 301}));
}

TEST_F(QueueTest, AHostCallThatFailsEndsItsSubmission) {
  const auto executable = make_executable(kAdvanceSource, advance_entry());
  const auto buffer = make_buffer(Bytes(sizeof(int), std::byte{0}));
  const auto commands = device_->create_command_buffer();
  TL_ASSERT_OK(
      commands->host_call([] { return make_error(StatusCode::NotFound, "no such file"); }));
  TL_ASSERT_OK(
      commands->dispatch(executable, 0, {1, 1, 1}, {{BufferBinding{buffer}}}, {{Constant(5)}}));
  EXPECT_THAT(run(commands), fails_with(StatusCode::NotFound, "a host call: no such file"));
  EXPECT_EQ(values_of<int>(buffer), std::vector<int>{0});
}

// One recording with other memory at each submission: an offset of the table and one of the slot.
TEST_F(QueueTest, TablesBindAtSubmission) {
  const auto executable = make_executable(kAdvanceSource, advance_entry());
  const std::uint64_t step = device_->info().limits.buffer_offset_alignment;
  const auto buffer = make_buffer(Bytes(4 * step, std::byte{0}));
  const auto commands = device_->create_command_buffer({.reusable = true});
  const std::array<BindingRef, 1> refs = {BindingSlot{1, step}};
  TL_ASSERT_OK(commands->dispatch_with_table(executable, 0, {1, 1, 1}, refs, {{Constant(7)}}));
  TL_ASSERT_OK(commands->finish());
  for (const std::uint64_t k : {0u, 2u}) {
    Submission submission;
    submission.commands.emplace_back(
        commands, std::vector<Binding>{TextureBinding{}, BufferBinding{buffer, k * step}});
    TL_ASSERT_OK(device_->queue()->submit(std::move(submission)));
  }
  std::vector<int> expected(step, 0);
  expected[step / sizeof(int)] = expected[3 * step / sizeof(int)] = 7;
  EXPECT_EQ(values_of<int>(buffer), expected);
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
    // One command that binds a part of a buffer, one that needs scratch memory.
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
  EXPECT_EQ((calls_of<&Api::clReleaseEvent>()), 1);  // one for each submission
}

}  // namespace
}  // namespace texloom::hal::opencl
