// Tests runs of dispatches, of kernels with argument buffers, that reusable command buffers turn
// into indirect command buffers. The software Metal finds missing barriers and non-resident memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "runtime/hal/transfer.h"
#include "tests/runtime/drivers/metal/device_gate.h"
#include "tests/runtime/drivers/metal/device_test.h"
#include "tests/runtime/drivers/metal/message_counts.h"
#include "tests/runtime/status_matchers.h"
#include "tests/softmetal/api/classes/checks/faults.h"

namespace texloom::hal::metal {
namespace {

constexpr const char* kExecute = "executeCommandsInBuffer:withRange:";
constexpr const char* kDispatch = "dispatchThreadgroups:threadsPerThreadgroup:";
constexpr const char* kNewCommands =
    "newIndirectCommandBufferWithDescriptor:maxCommandCount:options:";

using Values = std::array<int, 8>;

// Runs on both devices. Device 1 has no residency sets, and requires that an encoder uses a
// pipeline before indirect commands do.
class IndirectRuns : public DeviceTest, public ::testing::WithParamInterface<int> {
 protected:
  void SetUp() override { open_with({}); }
  void open_with(const DeviceOptions& options) {
    open({}, GetParam(), options);
    const auto made = device->create_executable(add_desc(kArgumentBufferSource));
    TL_ASSERT_OK(made.status());
    add_ = *made;
  }
  std::shared_ptr<CommandBuffer> begin(bool reusable = true) {
    return device->create_command_buffer({.reusable = reusable});
  }
  Status record(CommandBuffer& commands, const BindingRef& from, const BindingRef& to, int k) {
    return commands.dispatch_with_table(add_, 0, {8, 1, 1}, std::array{from, to},
                                        std::array{Constant(k)});
  }
  // `count` dispatches from slot 0 to slot 1 and back, each of which adds 1.
  std::shared_ptr<CommandBuffer> back_and_forth(int count) {
    auto commands = begin();
    for (int i = 0; i < count; ++i) {
      const auto from = static_cast<std::uint32_t>(i % 2);
      TL_EXPECT_OK(record(*commands, BindingSlot{from}, BindingSlot{1 - from}, 1));
    }
    TL_EXPECT_OK(commands->finish());
    return commands;
  }
  std::shared_ptr<Buffer> numbers(int from) {
    Values values;
    std::iota(values.begin(), values.end(), from);
    auto buffer = make(sizeof values);
    TL_EXPECT_OK(write_buffer(*device, buffer, 0, std::as_bytes(std::span(values))));
    return buffer;
  }
  void expect_numbers(const std::shared_ptr<Buffer>& buffer, int from) {
    Values values = {}, expected;
    std::iota(expected.begin(), expected.end(), from);
    TL_ASSERT_OK(read_buffer(*device, buffer, 0, std::as_writable_bytes(std::span(values))));
    EXPECT_EQ(values, expected);
  }
  Status run(const std::shared_ptr<CommandBuffer>& commands, std::vector<Binding> table = {}) {
    return device->queue()->run({.commands = {{commands, std::move(table)}}});
  }

  std::shared_ptr<Executable> add_;
};
INSTANTIATE_TEST_SUITE_P(, IndirectRuns, ::testing::Values(0, 1));

TEST_P(IndirectRuns, AreExecutedByOneCall) {
  const auto commands = back_and_forth(100);
  const auto a = numbers(5), b = numbers(0);
  const std::vector<Binding> table = {BufferBinding{a}, BufferBinding{b}};
  TL_ASSERT_OK(run(commands, table));
  expect_numbers(a, 105);
  expect_numbers(b, 104);
  const MessageCounts counts;
  TL_ASSERT_OK(run(commands, table));
  EXPECT_EQ(counts.of(kExecute), 1);
  EXPECT_EQ(counts.of("useResource:usage:"), 3);  // the two buffers, and the argument buffers
  EXPECT_EQ(counts.beginning_with("memoryBarrier"), 0);
  // Device 1 needs one direct dispatch first, which sets the pipeline and the arguments.
  EXPECT_EQ(counts.beginning_with("set"), 3 * GetParam());
  EXPECT_EQ(counts.of(kDispatch), GetParam());
  EXPECT_EQ(counts.beginning_with("new"), 0) << "nothing is allocated in the second submission";
  expect_numbers(a, 205);
}

TEST_P(IndirectRuns, KeepTheirCommandsWhenTablesChange) {
  const auto commands = back_and_forth(6);
  TL_ASSERT_OK(run(commands, {BufferBinding{numbers(0)}, BufferBinding{numbers(0)}}));
  const auto a = numbers(100), b = numbers(0);
  const std::vector<Binding> table = {BufferBinding{a}, BufferBinding{b}};
  const MessageCounts counts;
  TL_ASSERT_OK(run(commands, table));
  EXPECT_EQ(counts.of(kExecute), 1);
  EXPECT_EQ(counts.of("setKernelBuffer:offset:atIndex:"), 0);
  EXPECT_EQ(counts.beginning_with("new"), 0);
  expect_numbers(a, 106);
  expect_numbers(b, 105);
}

// Each batch in flight has separate argument buffers.
TEST_P(IndirectRuns, MayBeInFlightWithOtherTables) {
  const auto commands = back_and_forth(5);
  constexpr int kBatches = 7;
  std::vector<std::shared_ptr<Buffer>> from, to;
  for (int i = 0; i < kBatches; ++i) from.push_back(numbers(100 * i)), to.push_back(numbers(0));
  const MessageCounts counts;
  DeviceGate gate(device);
  TL_ASSERT_OK(gate.close());
  for (int i = 0; i < kBatches; ++i) {
    TL_ASSERT_OK(device->queue()->submit(
        {.commands = {{commands, {BufferBinding{from[i]}, BufferBinding{to[i]}}}}}));
  }
  // Each batch, and the gate's own submission, updates a fence at its end. A thread of the queue
  // encodes them.
  while (counts.of("updateFence:") < kBatches + 1) std::this_thread::yield();
  gate.open();
  TL_ASSERT_OK(device->queue()->wait_idle());
  EXPECT_EQ(counts.of(kNewCommands), 4);
  EXPECT_EQ(counts.of(kExecute), 4) << "further batches are encoded";
  for (int i = 0; i < kBatches; ++i) {
    expect_numbers(to[i], 100 * i + 5);
    expect_numbers(from[i], 100 * i + 4);
  }
}

// Each thread uses separate indirect command buffers, or those that another thread has returned.
TEST_P(IndirectRuns, MayBeSubmittedByThreads) {
  const auto commands = back_and_forth(4);
  constexpr int kThreads = 3, kTimes = 20;
  std::vector<std::shared_ptr<Buffer>> from, to;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) from.push_back(numbers(100 * i)), to.push_back(numbers(0));
  const MessageCounts counts;
  for (int i = 0; i < kThreads; ++i) {
    const auto queue = device->create_queue();
    TL_ASSERT_OK(queue.status());
    threads.emplace_back([&, i, queue = *queue] {
      for (int time = 0; time < kTimes; ++time)
        TL_EXPECT_OK(
            queue->run({.commands = {{commands, {BufferBinding{from[i]}, BufferBinding{to[i]}}}}}));
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(counts.of(kExecute), kThreads * kTimes);
  for (int i = 0; i < kThreads; ++i) expect_numbers(from[i], 100 * i + 4 * kTimes);
}

TEST_P(IndirectRuns, EndAtOtherCommands) {
  const auto a = numbers(0), b = numbers(0);
  const auto commands = begin();
  const auto add = [&](int times) {
    for (int i = 0; i < times; ++i)
      TL_ASSERT_OK(record(*commands, BufferBinding{a}, BufferBinding{b}, i));
  };
  const std::array pattern = {std::byte{1}, std::byte{0}, std::byte{0}, std::byte{0}};
  add(4);
  TL_ASSERT_OK(commands->fill(a, 4, 4, pattern));
  add(5);
  TL_ASSERT_OK(commands->fill(a, 8, 4, pattern));
  add(3);  // too few
  TL_ASSERT_OK(commands->finish());
  for (int submission = 0; submission < 2; ++submission) {
    const MessageCounts counts;
    TL_ASSERT_OK(run(commands));
    EXPECT_EQ(counts.of(kExecute), 2);
    EXPECT_GE(counts.of(kDispatch), 3);
  }
  Values values = {};
  TL_ASSERT_OK(read_buffer(*device, b, 0, std::as_writable_bytes(std::span(values))));
  EXPECT_EQ(values, (Values{2, 3, 3, 5, 6, 7, 8, 9}));
}

// Direct dispatches after an indirect run set their pipeline and arguments again.
TEST_P(IndirectRuns, LeaveNoArgumentsSet) {
  const auto other = device->create_executable(add_desc());
  TL_ASSERT_OK(other.status());
  const auto a = numbers(0), b = numbers(0), c = numbers(0);
  const auto commands = begin();
  const auto direct = [&](int k) {
    TL_ASSERT_OK(commands->dispatch(*other, 0, {8, 1, 1},
                                    std::array<Binding, 2>{BufferBinding{a}, BufferBinding{c}},
                                    std::array{Constant(k)}));
  };
  direct(1);
  for (int i = 0; i < 4; ++i)
    TL_ASSERT_OK(record(*commands, BufferBinding{a}, BufferBinding{b}, 2));
  direct(1);
  TL_ASSERT_OK(commands->finish());
  TL_ASSERT_OK(run(commands));
  expect_numbers(b, 2);
  expect_numbers(c, 1);
}

// Barriers inside a run also order the run with the commands before and after it.
TEST_P(IndirectRuns, HaveBarriersForOthers) {
  const auto other = device->create_executable(add_desc());
  TL_ASSERT_OK(other.status());
  const auto a = numbers(0), b = numbers(0), c = numbers(0), d = numbers(0), e = numbers(0);
  const auto commands = begin();
  const auto direct = [&](const std::shared_ptr<Buffer>& from, const std::shared_ptr<Buffer>& to) {
    TL_ASSERT_OK(commands->dispatch(*other, 0, {8, 1, 1},
                                    std::array<Binding, 2>{BufferBinding{from}, BufferBinding{to}},
                                    std::array{Constant(1)}));
  };
  direct(a, b);
  for (int i = 0; i < 4; ++i)  // a barrier precedes i == 1
    TL_ASSERT_OK(
        record(*commands, BufferBinding{i == 0 ? a : b}, BufferBinding{i == 0 ? c : d}, i));
  direct(c, e);
  TL_ASSERT_OK(commands->finish());
  const MessageCounts counts;
  TL_ASSERT_OK(run(commands));
  EXPECT_EQ(counts.of(kExecute), 1);
  expect_numbers(d, 4);
  expect_numbers(e, 1);
}

TEST_P(IndirectRuns, AreOfReusableCommandBuffersWithoutProfile) {
  const auto count_executions = [&](bool reusable) {
    const auto a = numbers(0), b = numbers(0);
    const auto commands = begin(reusable);
    for (int i = 0; i < 4; ++i)
      TL_EXPECT_OK(record(*commands, BufferBinding{a}, BufferBinding{b}, i));
    TL_EXPECT_OK(commands->finish());
    const MessageCounts counts;
    TL_EXPECT_OK(run(commands));
    expect_numbers(b, 3);
    return counts.of(kExecute);
  };
  EXPECT_EQ(count_executions(true), 1);
  EXPECT_EQ(count_executions(false), 0);
  open_with({.profile = std::make_shared<Profile>()});
  EXPECT_EQ(count_executions(true), 0);
}

// If the indirect command buffer or its pipeline cannot be created, dispatches are encoded
// directly.
TEST_P(IndirectRuns, NeedNotExist) {
  for (const std::string failing : {"newIndirectCommandBuffer", "newComputePipelineState"}) {
    bool is_seen = false;
    for (std::uint64_t call = 1; !is_seen; ++call) {
      ASSERT_LT(call, 100U) << failing << " is never called";
      const auto a = numbers(1), b = numbers(0);
      softmetal::fail_call(call);
      // A kernel's first pipeline is for direct dispatches, its second one for indirect commands.
      auto made = device->create_executable(add_desc(kArgumentBufferSource));
      if (made.ok() && (*made)->prepare().ok()) {
        add_ = *made;
        const MessageCounts counts;
        const auto commands = back_and_forth(4);
        const Status status = run(commands, {BufferBinding{a}, BufferBinding{b}});
        is_seen = softmetal::failed_call().starts_with(failing);
        softmetal::fail_call(0);
        if (is_seen) {
          TL_ASSERT_OK(status);
          EXPECT_EQ(counts.of(kExecute), 0);
          expect_numbers(a, 5);
        }
      }
      softmetal::fail_call(0);
    }
  }
}

// A pipeline for indirect commands may allow fewer threads than the pipeline for direct dispatches:
// on device 1 it allows 512.
TEST_P(IndirectRuns, HaveAsManyThreadsAsTheKernel) {
  for (const std::uint32_t threads : {512U, 513U}) {
    ExecutableDesc desc = add_desc(kArgumentBufferSource);
    desc.entry_points[0].workgroup_size = {threads, 1, 1};
    const auto executable = device->create_executable(desc);
    TL_ASSERT_OK(executable.status());
    const auto a = make(threads * sizeof(int)), b = make(threads * sizeof(int));
    const auto commands = begin();
    for (int i = 0; i < 4; ++i)
      TL_ASSERT_OK(commands->dispatch(*executable, 0, {1, 1, 1},
                                      std::array<Binding, 2>{BufferBinding{a}, BufferBinding{b}},
                                      std::array{Constant(i)}));
    TL_ASSERT_OK(commands->finish());
    const MessageCounts counts;
    TL_ASSERT_OK(run(commands));
    EXPECT_EQ(counts.of(kExecute), GetParam() == 1 && threads > 512 ? 0 : 1);
  }
}

// Argument buffers may also contain textures.
TEST_P(IndirectRuns, ReadTextures) {
  const auto executable = device->create_executable(
      {.codes = {{.format = KernelFormat::Msl, .code = R"(
#include <metal_stdlib>
using namespace metal;
struct Table { texture2d<int, access::read> from [[id(0)]]; device int4* to [[id(1)]]; };
kernel void read(constant Table& table [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  table.to[i] = table.from.read(uint2(i, 0));
}
)"}},
       .entry_points = {{.name = "read",
                         .params = {TextureParam{.name = "from", .format = TexelFormat::Rgba32Int},
                                    BufferParam{.name = "to", .access = Access::Write}}}}});
  TL_ASSERT_OK(executable.status());
  const auto texture = device->create_texture({.extent = {2, 1}, .format = TexelFormat::Rgba32Int});
  TL_ASSERT_OK(texture.status());
  const Values texels = {1, 2, 3, 4, 5, 6, 7, 8};
  TL_ASSERT_OK(
      write_texture(*device, *texture, {.extent = {2, 1}}, std::as_bytes(std::span(texels))));
  const auto commands = begin();
  std::array<std::shared_ptr<Buffer>, 4> results;
  for (std::shared_ptr<Buffer>& each : results) {
    each = numbers(0);
    TL_ASSERT_OK(commands->dispatch(
        *executable, 0, {2, 1, 1},
        std::array<Binding, 2>{TextureBinding{*texture}, BufferBinding{each}}, {}));
  }
  TL_ASSERT_OK(commands->finish());
  const MessageCounts counts;
  TL_ASSERT_OK(run(commands));
  EXPECT_EQ(counts.of(kExecute), 1);
  for (const auto& each : results) expect_numbers(each, 1);
}

// A failed Metal command buffer runs nothing, and the indirect commands can be run again.
TEST_P(IndirectRuns, SurviveACommandBufferThatFails) {
  const auto commands = back_and_forth(5);
  const auto a = numbers(0), b = numbers(0), c = numbers(0), d = numbers(0);
  const std::vector<Binding> first = {BufferBinding{a}, BufferBinding{b}};
  const std::vector<Binding> second = {BufferBinding{c}, BufferBinding{d}};
  TL_ASSERT_OK(run(commands, first));
  expect_numbers(b, 5);
  bool is_seen = false;
  for (std::uint64_t call = 1; !is_seen; ++call) {
    ASSERT_LT(call, 100U) << "commit is never called";
    softmetal::fail_call(call);
    // The next submissions may run before the error is known.
    for (int i = 0; i < 3; ++i)
      TL_ASSERT_OK(device->queue()->submit({.commands = {{commands, i == 1 ? second : first}}}));
    const Status status = device->queue()->wait_idle();
    is_seen = softmetal::failed_call() == "commit";
    softmetal::fail_call(0);
    if (is_seen) {
      EXPECT_FALSE(status.ok());
    }
  }
  for (int i = 0; i < 2; ++i) {
    for (const auto& table : {first, second}) {
      const auto fresh = numbers(10 * i), other = numbers(0);
      TL_ASSERT_OK(run(commands, table));
      TL_ASSERT_OK(run(commands, {BufferBinding{fresh}, BufferBinding{other}}));
      expect_numbers(other, 10 * i + 5);
    }
  }
}

TEST_P(IndirectRuns, WaitForASemaphoreThatFails) {
  const auto commands = back_and_forth(5);
  const auto a = numbers(0), b = numbers(0);
  const std::vector<Binding> table = {BufferBinding{a}, BufferBinding{b}};
  const auto gate = device->create_semaphore();
  TL_ASSERT_OK(gate.status());
  TL_ASSERT_OK(run(commands, table));
  TL_ASSERT_OK(device->queue()->submit({.waits = {{*gate, 1}}, .commands = {{commands, table}}}));
  TL_ASSERT_OK((*gate)->fail(make_error(StatusCode::Unavailable, "on purpose")));
  EXPECT_EQ(device->queue()->wait_idle().code(), StatusCode::Unavailable);
  expect_numbers(b, 5);
  TL_ASSERT_OK(run(commands, table));
  expect_numbers(b, 9);
}

// Only the queue keeps the command buffers alive, and at the end nothing keeps the device alive.
TEST_P(IndirectRuns, MayEndWhileTheyAreInFlight) {
  const auto a = numbers(0), b = numbers(0);
  for (int i = 0; i < 8; ++i) {
    const std::vector<Binding> table = {BufferBinding{a}, BufferBinding{b}};
    TL_ASSERT_OK(device->queue()->submit({.commands = {{back_and_forth(5), table}}}));
  }
  TL_ASSERT_OK(device->queue()->wait_idle());
  expect_numbers(b, 33);
  auto commands = back_and_forth(5);
  {
    const std::vector<Binding> table = {BufferBinding{numbers(0)}, BufferBinding{numbers(0)}};
    TL_ASSERT_OK(device->queue()->submit({.commands = {{commands, table}}}));
  }
  add_.reset();
  device.reset();
  commands.reset();
}

// On GPUs other than Apple's, Metal executes at most 16384 indirect commands at once.
TEST_P(IndirectRuns, AreDividedIfTheyAreLong) {
  open({.staging_bytes = 1 << 12, .heap_bytes = 1 << 14}, GetParam());
  const auto made = device->create_executable(add_desc(kArgumentBufferSource));
  TL_ASSERT_OK(made.status());
  add_ = *made;
  constexpr int kCount = 0x4000 + 5;
  const auto commands = back_and_forth(kCount);
  const auto a = numbers(0), b = numbers(0);
  const MessageCounts counts;
  TL_ASSERT_OK(run(commands, {BufferBinding{a}, BufferBinding{b}}));
  EXPECT_EQ(counts.of(kExecute), 2);
  EXPECT_EQ(counts.beginning_with("memoryBarrier"), 1);
  expect_numbers(b, kCount);
}

// A kernel that does not build fails each submission with its error; other kernels still run.
TEST_P(IndirectRuns, DoNotHideThatAKernelFails) {
  const auto wrong = device->create_executable(
      {.codes = {{.format = KernelFormat::Msl, .code = "kernel void add() { wrong }"}},
       .entry_points = {{.name = "add", .params = add_params()}},
       .build = BuildTime::FirstUse});
  TL_ASSERT_OK(wrong.status());
  const auto a = numbers(0), b = numbers(0);
  const auto commands = begin();
  const std::array<Binding, 2> bindings = {BufferBinding{a}, BufferBinding{b}};
  for (int i = 0; i < 4; ++i)
    TL_ASSERT_OK(record(*commands, BufferBinding{a}, BufferBinding{b}, 1));
  TL_ASSERT_OK(commands->dispatch(*wrong, 0, {8, 1, 1}, bindings, std::array{Constant(1)}));
  for (int i = 0; i < 4; ++i)
    TL_ASSERT_OK(record(*commands, BufferBinding{a}, BufferBinding{b}, 1));
  TL_ASSERT_OK(commands->finish());
  const auto good = back_and_forth(4);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(run(commands).code(), StatusCode::BuildFailed);
    expect_numbers(b, 0);
  }
  TL_ASSERT_OK(run(good, {BufferBinding{b}, BufferBinding{a}}));
  expect_numbers(b, 4);
}

}  // namespace
}  // namespace texloom::hal::metal
