// Tests what equal runs share (recordings, constants, memory), and the order of runs.
#include <algorithm>
#include <bit>
#include <map>

#include "tests/runtime/executor/device_program_fixture.h"

namespace texloom::runtime {
namespace {

using hal::Bytes;

Operand constant(std::uint32_t i) { return TensorRef{TensorRef::Kind::Constant, i}; }
TensorRef tensor(const Operand& operand) { return std::get<TensorRef>(operand); }

// Provides constants from memory, and counts how often each is read.
class Values final : public ConstantSource {
 public:
  explicit Values(std::vector<std::vector<float>> values) : values_(std::move(values)) {}
  Result<std::span<const std::byte>> bytes(std::uint32_t constant) override {
    ++reads[constant];
    return std::as_bytes(std::span(values_[constant]));
  }
  std::map<std::uint32_t, int> reads;

 private:
  std::vector<std::vector<float>> values_;
};

// Records a kernel for each call, and counts the calls that it has recorded.
class KernelCalls final : public CallRecorder {
 public:
  explicit KernelCalls(std::shared_ptr<hal::Executable> executable)
      : executable_(std::move(executable)) {}
  Status record(const CallStep&, std::span<const hal::BindingRef> tensors,
                std::span<const hal::Offset2D>, hal::CommandBuffer& commands) override {
    ++recorded;
    return commands.dispatch_with_table(executable_, 0, {kCount, 1, 1}, tensors, {});
  }
  int recorded = 0;

 private:
  std::shared_ptr<hal::Executable> executable_;
};

hal::EntryPoint of_two_buffers(const char* name, std::uint64_t min_bytes = kCount * 4) {
  return {.name = name,
          .params = {BufferParam{.name = "in", .min_bytes = min_bytes},
                     BufferParam{.name = "out", .access = Access::Write, .min_bytes = min_bytes}}};
}
const char* const kNext = R"(
  __kernel void next(__global const float* in, __global float* out) {
    int i = get_global_id(0);
    out[i] = in[i] + 1;
  })";

class RecordedRunsTest : public DeviceProgramTest {
 protected:
  BufferBinding input(float start) {
    return BufferBinding{make_buffer(hal::bytes_of(ramp(kCount, start)))};
  }
  BufferBinding output() { return BufferBinding{make_buffer(kCount * 4)}; }
  std::uint64_t allocations() { return device_->workspace_pool().statistics().driver_allocations; }

  // Y = X + 4 through three temporaries in one buffer: x -> a -> b -> c -> y.
  LaunchPlan chain_in_an_arena(std::uint64_t min_bytes) {
    LaunchPlan plan = TestPlan{
        .arguments = {buffer_tensor("X", kCount * 4), buffer_tensor("Y", kCount * 4)},
        .temporaries = {buffer_tensor("a", kCount * 4), buffer_tensor("b", kCount * 4),
                        buffer_tensor("c", kCount * 4)},
        .kernels = {{.codes = opencl_c(kNext), .entry = of_two_buffers("next", min_bytes)}},
        .steps = {AllocateStep{0}, launch(0, {kCount, 1, 1}, {argument(0), temporary(0)}),
                  AllocateStep{1}, launch(0, {kCount, 1, 1}, {temporary(0), temporary(1)}),
                  FreeStep{0}, AllocateStep{2},
                  launch(0, {kCount, 1, 1}, {temporary(1), temporary(2)}), FreeStep{1},
                  launch(0, {kCount, 1, 1}, {temporary(2), argument(1)}), FreeStep{2}}};
    const std::uint64_t step = std::max<std::uint64_t>(
        device_->info().limits.buffer_offset_alignment, std::bit_ceil(kCount * 4));
    plan.workspace = {.objects = {BufferStorage{2 * step}},
                      .places = {{.offset = step}, {.offset = 0}, {.offset = step}}};
    return plan;
  }
};

// The first run is direct, the second run records, and later runs reuse the recording.
TEST_F(RecordedRunsTest, EqualRunsAreRecordedOnce) {
  LaunchPlan plan =
      TestPlan{.arguments = {buffer_tensor("X", kCount * 4), buffer_tensor("Y", kCount * 4)},
               .temporaries = {}};
  plan.calls = {{.op = "mine::next", .accesses = {Access::Read, Access::Write}}};
  plan.steps = {CallStep{0, {tensor(argument(0)), tensor(argument(1))}}};
  const auto calls = std::make_shared<KernelCalls>(make_executable(kNext, of_two_buffers("next")));
  const auto program = DeviceProgram::create(device_, plan, {.calls = calls});
  TL_ASSERT_OK(program.status());
  for (int run = 1; run <= 5; ++run) {
    const BufferBinding y = output();
    TL_ASSERT_OK((*program)->run({{input(static_cast<float>(run)), y}}));
    EXPECT_EQ(values_of<float>(y.buffer), ramp(kCount, static_cast<float>(run) + 1));
    EXPECT_EQ(calls->recorded, std::min(run, 2));
  }
  TL_ASSERT_OK((*program)->run({{input(0), output()}}, {}, {.times = 3}));
  EXPECT_EQ(calls->recorded, 2 + 3);
  EXPECT_THAT(DeviceProgram::create(device_, plan).status(),
              fails_with(StatusCode::Unimplemented, "operator \"mine::next\" is not provided"));
}

// Runs with other scalars or texture origins need separate recordings.
TEST_F(RecordedRunsTest, RunsWithOtherScalarsAndOrigins) {
  const char* source = R"(
    __constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
    __kernel void pick(__read_only image2d_t in, int x, int y, float factor, __global float* out) {
      out[0] = factor * read_imagef(in, s, (int2)(x, y)).x;
    })";
  const LaunchPlan plan =
      TestPlan{.scalars = {{.name = "factor"}},
               .arguments = {texture_tensor("X", {1, 1}), buffer_tensor("Y", 4)},
               .temporaries = {},
               .kernels = {{.codes = opencl_c(source),
                            .entry = {.name = "pick",
                                      .params = {TextureParam{.name = "in",
                                                              .min_extent = {1, 1},
                                                              .origin = TextureOrigin::Constants},
                                                 ConstantParam{"x"}, ConstantParam{"y"},
                                                 ConstantParam{"factor", hal::ElementType::Float32},
                                                 BufferParam{.name = "out",
                                                             .access = Access::Write,
                                                             .min_bytes = 4}}}}},
               .steps = {launch(0, {1, 1, 1},
                                {argument(0), origin_x(argument(0)), origin_y(argument(0)),
                                 ScalarValue{0}, argument(1)})}};
  const auto program = make_program(plan);
  ASSERT_NE(program, nullptr);
  const auto image = make_texture(kExtent, TexelFormat::Rgba32Float);
  TL_ASSERT_OK(hal::write_texture(*device_, image, {{}, kExtent}, hal::bytes_of(ramp(kCount))));
  for (int round = 0; round < 4; ++round) {
    for (const std::uint32_t x : {0U, 3U}) {
      for (int factor = 1; factor < 7; ++factor) {  // more runs than cached recordings
        const BufferBinding y{make_buffer(4)};
        const hal::Constant scalar(static_cast<float>(factor));
        TL_ASSERT_OK(program->run({{TextureBinding{image, {x, 2}}, y}}, {.scalars = {&scalar, 1}}));
        EXPECT_EQ(values_of<float>(y.buffer).front(),
                  static_cast<float>(factor) * static_cast<float>((2 * 8 + x) * 4));
      }
    }
  }
}

// Temporaries at offsets of one buffer; kernels that state no size get only their own part.
TEST_F(RecordedRunsTest, TemporariesInAnArena) {
  for (const std::uint64_t min_bytes : {std::uint64_t{kCount * 4}, std::uint64_t{0}}) {
    const auto program = make_program(chain_in_an_arena(min_bytes));
    ASSERT_NE(program, nullptr);
    for (int run = 0; run < 4; ++run) {
      const BufferBinding y = output();
      TL_ASSERT_OK(program->run({{input(static_cast<float>(run)), y}}));
      EXPECT_EQ(values_of<float>(y.buffer), ramp(kCount, static_cast<float>(run) + 4));
    }
  }
}

TEST_F(RecordedRunsTest, SecondRunsAllocateNothing) {
  const auto arena = make_program(chain_in_an_arena(kCount * 4));
  const auto texture = make_program(add_one_plan());
  ASSERT_TRUE(arena != nullptr && texture != nullptr);
  const BufferBinding x = input(0), y = output();
  TL_ASSERT_OK(arena->run({{x, y}}));
  TL_ASSERT_OK(texture->run({{x, y}}));
  const std::uint64_t before = allocations();
  const hal::MemoryStatistics memory = device_->allocator()->statistics();
  for (int run = 0; run < 3; ++run) {
    TL_ASSERT_OK(arena->run({{x, y}}));
    TL_ASSERT_OK(texture->run({{x, y}}));
  }
  TL_ASSERT_OK(device_->queue()->wait_idle());
  EXPECT_EQ(allocations(), before);
  for (const hal::MemoryKind kind : hal::kAllMemoryKinds)
    EXPECT_EQ(device_->allocator()->statistics().of(kind), memory.of(kind));
}

// Y = T + C, with the constants T in a texture and C in a buffer: each is read once, at the first
// run.
TEST_F(RecordedRunsTest, ConstantsAreUploadedAtTheFirstRun) {
  const char* source = R"(
    __constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
    __kernel void add(__read_only image2d_t t, __global const float* c, __global float* y) {
      int i = get_global_id(0), j = get_global_id(1), k = j * 8 + i;
      vstore4(read_imagef(t, s, (int2)(i, j)) + vload4(k, c), k, y);
    })";
  LaunchPlan plan =
      TestPlan{.arguments = {buffer_tensor("Y", kCount * 4)},
               .temporaries = {},
               .kernels = {{.codes = opencl_c(source),
                            .entry = {.name = "add",
                                      .params = {TextureParam{.name = "t", .min_extent = kExtent},
                                                 BufferParam{.name = "c", .min_bytes = kCount * 4},
                                                 BufferParam{.name = "y",
                                                             .access = Access::Write,
                                                             .min_bytes = kCount * 4}}}}},
               .steps = {launch(0, {8, 6, 1}, {constant(0), constant(1), argument(0)})}};
  plan.constants = {texture_tensor("T", kExtent), buffer_tensor("C", kCount * 4)};
  const auto values =
      std::make_shared<Values>(std::vector<std::vector<float>>{ramp(kCount), ramp(kCount, 100)});
  const auto program = DeviceProgram::create(device_, plan, {.constants = values});
  TL_ASSERT_OK(program.status());
  EXPECT_TRUE(values->reads.empty());
  std::vector<float> sums;
  for (std::size_t i = 0; i < kCount; ++i) sums.push_back(100 + 2 * static_cast<float>(i));
  for (int run = 0; run < 3; ++run) {
    const BufferBinding y = output();
    TL_ASSERT_OK((*program)->run({{y}}));
    EXPECT_EQ(values_of<float>(y.buffer), sums);
    EXPECT_EQ(values->reads, (std::map<std::uint32_t, int>{{0, 1}, {1, 1}}));
  }
  EXPECT_EQ(values.use_count(), 1);  // the program released `values`

  EXPECT_THAT(DeviceProgram::create(device_, plan).status(),
              refused("the plan has 2 constants, but nothing provides their values"));
  const auto small =
      std::make_shared<Values>(std::vector<std::vector<float>>{ramp(kCount), ramp(3)});
  const auto wrong = DeviceProgram::create(device_, plan, {.constants = small});
  TL_ASSERT_OK(wrong.status());
  EXPECT_THAT((*wrong)->run({{output()}}),
              refused("constant \"C\": a buffer of 768 bytes takes 768 bytes, got 12"));
}

// A run, in one submission or several, begins after its waits; its error fails its signals.
TEST_F(RecordedRunsTest, RunsWaitAndSignal) {
  for (const CommitPolicy& policy : {CommitPolicy{}, CommitPolicy{.launches = 1}}) {
    const auto program = make_program(add_one_plan(), policy);
    ASSERT_NE(program, nullptr);
    const auto done = hal::Semaphore::create();
    for (std::uint64_t run = 1; run <= 3; ++run) {
      const auto gate = hal::Semaphore::create();
      const BufferBinding y = output();
      TL_ASSERT_OK(
          program->run({{input(7), y}}, {}, {.waits = {{gate, 1}}, .signals = {{done, run}}}));
      EXPECT_EQ(*done->value(), run - 1);
      TL_ASSERT_OK(gate->signal(1));
      TL_ASSERT_OK(done->wait(run));
      EXPECT_EQ(values_of<float>(y.buffer), ramp(kCount, 8));
    }
    const auto failed = hal::Semaphore::create();
    TL_ASSERT_OK(failed->fail(Status(StatusCode::DeviceError, "no input")));
    TL_ASSERT_OK(
        program->run({{input(7), output()}}, {}, {.waits = {{failed, 1}}, .signals = {{done, 4}}}));
    EXPECT_THAT(done->wait(4), fails_with(StatusCode::DeviceError, "no input"));
    EXPECT_FALSE(device_->queue()->wait_idle().ok());
    TL_ASSERT_OK(program->run({{input(7), output()}}));
    TL_EXPECT_OK(device_->queue()->wait_idle());
  }
}

// Runs on two queues use separate temporaries.
TEST_F(RecordedRunsTest, QueuesDoNotShareMemory) {
  const auto program = make_program(add_one_plan());
  ASSERT_NE(program, nullptr);
  const auto other = device_->create_queue();
  TL_ASSERT_OK(other.status());
  const BufferBinding x = input(1), y = output(), z = output();
  TL_ASSERT_OK(program->run({{x, y}}));
  TL_ASSERT_OK(device_->queue()->wait_idle());
  const auto gate = hal::Semaphore::create();
  TL_ASSERT_OK(program->run({{x, y}}, {}, {.waits = {{gate, 1}}}));
  TL_ASSERT_OK(program->run({{x, z}}, {}, {.queue = *other}));
  TL_ASSERT_OK((*other)->wait_idle());  // ends while the first queue waits
  TL_ASSERT_OK(gate->signal(1));
  EXPECT_EQ(values_of<float>(y.buffer), ramp(kCount, 2));
  EXPECT_EQ(values_of<float>(z.buffer), ramp(kCount, 2));
}

TEST_F(RecordedRunsTest, MissingBarriersAreFound) {
  LaunchPlan plan = add_one_plan();
  plan.names_barriers = true;
  const ProgramOptions checked{.checks_barriers = true};
  TL_EXPECT_OK(DeviceProgram::create(device_, plan).status());
  EXPECT_THAT(DeviceProgram::create(device_, plan, checked).status(),
              refused("no barrier between command 0 (dispatch of kernel \"copy_in\") and command 1 "
                      "(dispatch of kernel \"add_one\")"));
  plan.steps.insert(plan.steps.begin() + 2, BarrierStep{});
  TL_EXPECT_OK(DeviceProgram::create(device_, plan, checked).status());
}

}  // namespace
}  // namespace texloom::runtime
