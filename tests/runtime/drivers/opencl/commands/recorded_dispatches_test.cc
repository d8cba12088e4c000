// Tests which OpenCL calls the submissions of a reusable command buffer make, and that each kernel
// runs with the arguments of its submission.

#include "runtime/drivers/opencl/commands/recorded_dispatches.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "tests/runtime/drivers/opencl/driver_calls.h"

namespace texloom::hal::opencl {
namespace {

constexpr std::uint32_t kItems = 16;
constexpr std::uint64_t kBytes = kItems * sizeof(int);

constexpr const char* kRecordedKernels = R"(
__kernel void advance(__global const int* in, __global int* out, int k) {
  out[get_global_id(0)] = in[get_global_id(0)] * 3 + k;
}
__kernel void reverse(__global const int* in, __local int* tile, __global int* out) {
  tile[get_local_id(0)] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = tile[15 - get_local_id(0)];
}
__kernel void to_image(__global const int* in, __write_only image2d_t out) {
  int i = get_global_id(0);
  write_imageui(out, (int2)(i, 0), (uint4)(in[i]));
}
__kernel void from_image(__read_only image2d_t in, __global int* out) {
  const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
  int i = get_global_id(0);
  out[i] = read_imageui(in, s, (int2)(i, 0)).x;
}
)";

std::vector<EntryPoint> entry_points(bool with_images) {
  const BufferParam in{.name = "in", .min_bytes = kBytes};
  const BufferParam out{.name = "out", .access = Access::Write, .min_bytes = kBytes};
  const TextureParam read{.name = "in", .format = TexelFormat::Rgba32UInt};
  const TextureParam write{
      .name = "out", .format = TexelFormat::Rgba32UInt, .access = Access::Write};
  std::vector<EntryPoint> entries = {
      {.name = "advance", .params = {in, out, ConstantParam{.name = "k"}}},
      {.name = "reverse",
       .params = {in, LocalParam{.name = "tile", .bytes = kBytes}, out},
       .workgroup_size = {kItems, 1, 1}}};
  if (!with_images) return entries;
  entries.push_back({.name = "to_image", .params = {in, write}});
  entries.push_back({.name = "from_image", .params = {read, out}});
  return entries;
}
constexpr std::uint32_t kAdvance = 0, kReverse = 1, kToImage = 2, kFromImage = 3;

class RecordedDispatchesTest : public ReplacedCallTest {
 protected:
  void SetUp() override {
    ReplacedCallTest::SetUp();
    if (IsSkipped()) return;
    open_with([](Api& api) { DriverCalls::count(real, api); });
    ASSERT_NE(device_, nullptr);
    prepare();
  }

  void prepare() {
    with_images_ = device_->info().features.images;
    auto executable = device_->create_executable(
        {.codes = opencl_c(kRecordedKernels), .entry_points = entry_points(with_images_)});
    ASSERT_TRUE(executable.ok()) << executable.status().to_string();
    executable_ = *executable;
  }

  // The offset of the second tensor in a buffer.
  std::uint64_t second() const {
    return std::max<std::uint64_t>(device_->info().limits.buffer_offset_alignment, kBytes);
  }
  std::shared_ptr<Buffer> make_input(int first) {
    std::vector<int> values(kItems);
    std::iota(values.begin(), values.end(), first);
    return make_buffer(bytes_of(values));
  }
  std::shared_ptr<Buffer> make_large() { return make_buffer(second() + kBytes); }

  void dispatch(CommandBuffer& commands, std::uint32_t kernel, std::vector<BindingRef> bindings,
                std::vector<Constant> constants = {}) {
    const std::array<std::uint32_t, 3> groups = {kernel == kReverse ? 1 : kItems, 1, 1};
    TL_ASSERT_OK(commands.dispatch_with_table(executable_, kernel, groups, bindings, constants));
    ++dispatches_;
  }
  // A graph over an input (slot 0), a temporary (slot 1), a buffer with two tensors (slot 2), and,
  // if there are images, a texture (slot 3). The result is at the start of slot 2.
  std::shared_ptr<CommandBuffer> record_graph() {
    auto commands = device_->create_command_buffer({.reusable = true});
    dispatch(*commands, kAdvance, {BindingSlot{0}, BindingSlot{1}}, {Constant(5)});
    if (with_images_) {
      dispatch(*commands, kToImage, {BindingSlot{1}, BindingSlot{3}});
      dispatch(*commands, kFromImage, {BindingSlot{3}, BindingSlot{1}});
    }
    dispatch(*commands, kReverse, {BindingSlot{1}, BindingSlot{2, second()}});
    dispatch(*commands, kAdvance, {BindingSlot{2, second()}, BindingSlot{2}}, {Constant(7)});
    EXPECT_TRUE(commands->finish().ok());
    return commands;
  }
  static std::vector<int> result_of_graph(int first) {
    std::vector<int> values(kItems);
    for (std::uint32_t i = 0; i < kItems; ++i)
      values[i] = ((first + static_cast<int>(kItems - 1 - i)) * 3 + 5) * 3 + 7;
    return values;
  }
  std::vector<Binding> make_table(int first) {
    std::vector<Binding> table = {BufferBinding{make_input(first)},
                                  BufferBinding{make_buffer(kBytes)}, BufferBinding{make_large()}};
    if (with_images_)
      table.emplace_back(TextureBinding{make_texture({kItems, 1}, TexelFormat::Rgba32UInt)});
    return table;
  }
  std::vector<int> result_in(const std::vector<Binding>& table) {
    std::vector<int> values = values_of<int>(std::get<BufferBinding>(table[2]).buffer);
    values.resize(kItems);
    return values;
  }

  // Runs the commands, and returns the driver's calls.
  DriverCalls run_with(const std::shared_ptr<CommandBuffer>& commands,
                       const std::vector<Binding>& table) {
    const DriverCalls start = DriverCalls::now();
    const Status status = device_->queue()->run({.commands = {{commands, table}}});
    EXPECT_TRUE(status.ok()) << status.to_string();
    return DriverCalls::now().since(start);
  }

  bool with_images_ = false;
  std::shared_ptr<Executable> executable_;
  int dispatches_ = 0;  // recorded
};

// Each dispatch has its own kernel object, so its arguments remain.
TEST_F(RecordedDispatchesTest, LaterRunsOnlyEnqueue) {
  const auto commands = record_graph();
  std::vector<Binding> table = make_table(1);
  DriverCalls::Runs runs;
  const auto run = [&](const char* title, int first) {
    runs.emplace_back(title, run_with(commands, table));
    EXPECT_EQ(runs.back().second.dispatches(), dispatches_);
    EXPECT_EQ(result_in(table), result_of_graph(first)) << title;
    return runs.back().second;
  };
  const DriverCalls first = run("run 1", 1);
  EXPECT_EQ(first.of({"clCreateKernel"}), dispatches_);
  EXPECT_EQ(first.of({"clCreateSubBuffer"}), 2);  // shared by all dispatches that use one part
  for (const char* title : {"run 2", "run 3"}) {
    const DriverCalls again = run(title, 1);
    EXPECT_EQ(again.objects_made(), 0);
    EXPECT_EQ(again.arguments_set(), 0);
  }
  // Slot 0 is used only by the first dispatch, and slot 2 only by the last two.
  table[0] = BufferBinding{make_input(100)};
  const DriverCalls other_input = run("other input", 100);
  EXPECT_EQ(other_input.objects_made(), 0);
  EXPECT_EQ(other_input.arguments_set(), 1);
  table[2] = BufferBinding{make_large()};
  const DriverCalls other_output = run("other output", 100);
  EXPECT_EQ(other_output.objects_made(), 2);
  EXPECT_EQ(other_output.arguments_set(), 3);
  fmt::print("a graph of {} dispatches\n{}", dispatches_, DriverCalls::table(runs));
}

// Two command buffers of the same kernels do not set each other's arguments.
TEST_F(RecordedDispatchesTest, CommandBuffersDoNotShareKernels) {
  const auto one = record_graph();
  const auto two = record_graph();
  const std::vector<Binding> a = make_table(1);
  const std::vector<Binding> b = make_table(50);
  run_with(one, a);
  run_with(two, b);
  EXPECT_EQ(run_with(one, a).arguments_set(), 0);
  EXPECT_EQ(run_with(two, b).arguments_set(), 0);
  EXPECT_EQ(result_in(a), result_of_graph(1));
  EXPECT_EQ(result_in(b), result_of_graph(50));
}

// Whether a whole buffer or a part is bound depends on the dispatch's other bindings.
TEST_F(RecordedDispatchesTest, ANeighborsBindingMayMakeABufferAPart) {
  const auto commands = device_->create_command_buffer({.reusable = true});
  dispatch(*commands, kAdvance, {BindingSlot{0}, BindingSlot{1}}, {Constant(1)});
  TL_ASSERT_OK(commands->finish());
  const auto large = make_large();
  TL_ASSERT_OK(write_buffer(*device_, large, 0, bytes_of(std::vector<int>(kItems, 10))));
  const auto other = make_buffer(kBytes);
  const std::vector<Binding> apart = {BufferBinding{large}, BufferBinding{other}};
  const std::vector<Binding> together = {BufferBinding{large}, BufferBinding{large, second()}};
  EXPECT_EQ(run_with(commands, apart).of({"clCreateSubBuffer"}), 0);
  const DriverCalls calls = run_with(commands, together);
  EXPECT_EQ(calls.of({"clCreateSubBuffer"}), 2);
  EXPECT_EQ(calls.arguments_set(), 2);
  EXPECT_EQ(values_of<int>(large)[second() / sizeof(int)], 31);
  EXPECT_EQ(run_with(commands, apart).arguments_set(), 2);
  EXPECT_EQ(values_of<int>(other), std::vector<int>(kItems, 31));
}

// A new buffer is often at the address of one that was just released.
TEST_F(RecordedDispatchesTest, NewMemoryIsNotMistakenForReleasedMemory) {
  const auto commands = record_graph();
  std::vector<std::uint64_t> ids;
  for (int i = 0; i < 20; ++i) {
    const std::vector<Binding> table = make_table(i);
    ids.push_back(std::get<BufferBinding>(table[0]).buffer->id());
    run_with(commands, table);
    EXPECT_EQ(result_in(table), result_of_graph(i)) << i;
  }
  std::ranges::sort(ids);
  EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
}

// Sub-buffers, which OpenCL counts as users, must not keep the memory of a table alive.
TEST_F(RecordedDispatchesTest, MemoryOfATableIsReleasedWithItsOwners) {
  const auto commands = record_graph();
  const DriverCalls start = DriverCalls::now();
  run_with(commands, make_table(1));
  const DriverCalls calls = DriverCalls::now().since(start);
  EXPECT_EQ(calls.of({"clReleaseMemObject"}),
            calls.of({"clCreateBuffer", "clCreateSubBuffer", "clCreateImage"}));
}

TEST_F(RecordedDispatchesTest, KernelsAreReleasedWithTheCommandBuffer) {
  auto commands = record_graph();
  const DriverCalls start = DriverCalls::now();
  run_with(commands, make_table(1));
  EXPECT_EQ(DriverCalls::now().since(start).of({"clReleaseKernel"}), 0);
  commands.reset();
  EXPECT_EQ(DriverCalls::now().since(start).of({"clReleaseKernel"}), dispatches_);
}

// Threads submit one command buffer to several queues, each with its own memory.
TEST_F(RecordedDispatchesTest, QueuesEncodeOneCommandBufferAtTheSameTime) {
  constexpr int kThreads = 3;
  constexpr int kRuns = 50;
  const auto commands = record_graph();
  const DriverCalls start = DriverCalls::now();
  std::array<std::vector<Binding>, kThreads> tables;
  std::vector<std::shared_ptr<Queue>> queues;
  for (int i = 0; i < kThreads; ++i) {
    tables[static_cast<std::size_t>(i)] = make_table(100 * i);
    queues.push_back(*device_->create_queue());
  }
  std::array<int, kThreads> failures = {};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int run = 0; run < kRuns; ++run)
        failures[i] += queues[i]->run({.commands = {{commands, tables[i]}}}).ok() ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, (std::array<int, kThreads>{}));
  for (int i = 0; i < kThreads; ++i)
    EXPECT_EQ(result_in(tables[static_cast<std::size_t>(i)]), result_of_graph(100 * i));
  EXPECT_LE(DriverCalls::now().since(start).of({"clCreateKernel"}), kThreads * dispatches_);
}

// One submission may contain a command buffer twice.
TEST_F(RecordedDispatchesTest, OneSubmissionWithTwoTables) {
  const auto commands = record_graph();
  const std::vector<Binding> a = make_table(1);
  const std::vector<Binding> b = make_table(50);
  TL_ASSERT_OK(device_->queue()->run({.commands = {{commands, a}, {commands, b}}}));
  EXPECT_EQ(result_in(a), result_of_graph(1));
  EXPECT_EQ(result_in(b), result_of_graph(50));
}

// After a failed call, the driver treats the argument as not set.
TEST_F(RecordedDispatchesTest, AnArgumentThatCouldNotBeSetIsSetLater) {
  open_with([](Api& api) {
    api.clSetKernelArg = [](cl_kernel kernel, cl_uint index, std::size_t bytes,
                            const void* value) -> cl_int {
      if (fail && index == 1) return CL_OUT_OF_RESOURCES;
      return real.clSetKernelArg(kernel, index, bytes, value);
    };
  });
  prepare();
  const auto commands = record_graph();
  const std::vector<Binding> a = make_table(1);
  const std::vector<Binding> b = make_table(50);
  TL_ASSERT_OK(device_->queue()->run({.commands = {{commands, a}}}));
  fail = true;
  EXPECT_THAT(device_->queue()->run({.commands = {{commands, b}}}),
              fails_with(StatusCode::DeviceError,
                         "kernel \"advance\": argument 1 \"out\": clSetKernelArg: "
                         "CL_OUT_OF_RESOURCES"));
  fail = false;
  for (const auto& [table, first] : {std::pair(b, 50), std::pair(a, 1), std::pair(b, 50)}) {
    TL_ASSERT_OK(device_->queue()->run({.commands = {{commands, table}}}));
    EXPECT_EQ(result_in(table), result_of_graph(first));
  }
}

}  // namespace
}  // namespace texloom::hal::opencl
