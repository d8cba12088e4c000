// Tests launch plans on a device: their arguments, scalars, loops and threads.
#include <atomic>
#include <cmath>
#include <thread>

#include "runtime/drivers/host/driver.h"
#include "tests/runtime/executor/device_program_fixture.h"

namespace texloom::runtime {
namespace {

TEST_F(DeviceProgramTest, TwoKernelsThroughATexture) {
  const auto program = make_program(add_one_plan());
  ASSERT_NE(program, nullptr);
  // Several runs in flight share the temporary.
  std::vector<std::shared_ptr<hal::Buffer>> outputs;
  for (int run = 0; run < 5; ++run) {
    const auto input = make_buffer(hal::bytes_of(ramp(kCount, 100.0f * static_cast<float>(run))));
    outputs.push_back(make_buffer(kCount * 4));
    TL_ASSERT_OK(program->run({{BufferBinding{input}, BufferBinding{outputs.back()}}}));
  }
  TL_ASSERT_OK(device_->queue()->wait_idle());
  for (int run = 0; run < 5; ++run)
    EXPECT_EQ(values_of<float>(outputs[run]),
              ramp(kCount, 100.0f * static_cast<float>(run) + 1.0f));
}

TEST_F(DeviceProgramTest, BufferArgumentsAtOffsets) {
  const auto program = make_program(add_one_plan());
  ASSERT_NE(program, nullptr);
  const std::uint64_t offset = device_->info().limits.buffer_offset_alignment;
  std::vector<float> data(offset / 4, -1.0f);
  const std::vector<float> input = ramp(kCount);
  data.insert(data.end(), input.begin(), input.end());
  const auto buffer = make_buffer(hal::bytes_of(data));
  const auto output = make_buffer(kCount * 4);
  TL_ASSERT_OK(program->run({{BufferBinding{buffer, offset}, BufferBinding{output}}}));
  TL_ASSERT_OK(device_->queue()->wait_idle());
  EXPECT_EQ(values_of<float>(output), ramp(kCount, 1));
}

TEST_F(DeviceProgramTest, ArgumentsThatShareMemory) {
  const auto program = make_program(add_one_plan());
  ASSERT_NE(program, nullptr);
  const auto both = make_buffer(kCount * 4);
  EXPECT_THAT(program->run({{BufferBinding{both}, BufferBinding{both}}}),
              refused("arguments \"X\" and \"Y\" share memory, which is written"));
}

// Each run reads what the previous one wrote.
TEST_F(DeviceProgramTest, SeveralRunsAtOnce) {
  const auto program = make_program(TestPlan{
      .arguments = {buffer_tensor("x", 4)},
      .temporaries = {},
      .kernels = {{.codes =
                       opencl_c("__kernel void triple(__global int* x) { x[0] = x[0] * 3 + 1; }"),
                   .entry = {.name = "triple",
                             .params = {BufferParam{.name = "x", .access = Access::ReadWrite}}}}},
      .steps = {launch(0, {1, 1, 1}, {argument(0)})}});
  ASSERT_NE(program, nullptr);
  const auto buffer = make_buffer(hal::bytes_of(std::vector<std::int32_t>{0}));
  TL_ASSERT_OK(program->run({{BufferBinding{buffer}}}, {}, {.times = 4}));
  TL_ASSERT_OK(device_->queue()->wait_idle());
  EXPECT_EQ(values_of<std::int32_t>(buffer), std::vector<std::int32_t>{40});
}

// A serial loop of the plan: each launch appends its loop variable to the buffer as a digit.
TEST_F(DeviceProgramTest, LoopVariablesReachTheKernels) {
  const char* source =
      "__kernel void push(__global long* x, int i, long j, int k) { x[0] = x[0] * 1000 + i * 100 + "
      "j * 10 + k; }";
  LaunchPlan plan = TestPlan{
      .arguments = {buffer_tensor("x", 8)},
      .temporaries = {},
      .kernels = {{.codes = opencl_c(source),
                   .entry = {.name = "push",
                             .params = {BufferParam{.name = "x", .access = Access::ReadWrite},
                                        ConstantParam{.name = "i"},
                                        ConstantParam{"j", hal::ElementType::Int64},
                                        ConstantParam{.name = "k"}}}}},
      .steps = {
          loop(0, 2,
               {loop(9, 2,
                     {launch(0, {1, 1, 1},
                             {argument(0), LoopVariable{0}, LoopVariable{9}, Immediate{7}})})}),
          loop(1, 0,
               {launch(0, {1, 1, 1}, {argument(0), Immediate{9}, Immediate{9}, Immediate{9}})})}};
  const auto program = make_program(plan);
  ASSERT_NE(program, nullptr);
  const auto buffer = make_buffer(hal::Bytes(8, std::byte{0}));
  TL_ASSERT_OK(program->run({{BufferBinding{buffer}}}));
  TL_ASSERT_OK(device_->queue()->wait_idle());
  EXPECT_EQ(values_of<std::int64_t>(buffer), std::vector<std::int64_t>{7'017'107'117});
}

// On a device that compiles kernels at their first run, a run tells which kernels are new.
TEST_F(DeviceProgramTest, TellsFirstRuns) {
  const auto program = make_program(add_one_plan());
  ASSERT_NE(program, nullptr);
  EXPECT_FALSE(program->first_runs().has_value());
  const BufferBinding in{make_buffer(kCount * 4)};
  const auto gate = hal::Semaphore::create();
  TL_ASSERT_OK(device_->queue()->submit({.waits = {{gate, 1}}, .commands = {}, .signals = {}}));
  TL_ASSERT_OK(program->run({{in, BufferBinding{make_buffer(kCount * 4)}}}));
  const auto now = program->first_runs();
  EXPECT_EQ(now.has_value(), device_->info().features.compiles_at_first_run);
  if (now) {
    EXPECT_EQ(now->done, 0U);
    EXPECT_EQ(now->total, program->plan().kernels.size());
    EXPECT_EQ(now->current, 0U);
  }
  TL_ASSERT_OK(gate->signal(1));
  TL_ASSERT_OK(device_->queue()->wait_idle());
  EXPECT_FALSE(program->first_runs().has_value());
}

// After each submission, the caller may cancel the rest of the run; the next run is complete.
TEST_F(DeviceProgramTest, Interrupted) {
  constexpr int kLaunches = 8;
  LaunchPlan plan =
      TestPlan{.arguments = {buffer_tensor("x", 4)},
               .temporaries = {},
               .kernels = {count_kernel()},
               .steps = {loop(0, kLaunches + 1, {launch(0, {1, 1, 1}, {argument(0)})})}};
  const auto program = make_program(plan, {.launches = kLaunches});
  ASSERT_NE(program, nullptr);
  const auto counted = [&](int times, int submissions) {
    const auto buffer = make_buffer(hal::Bytes(4, std::byte{0}));
    EXPECT_TRUE(program
                    ->run({{BufferBinding{buffer}}}, {}, {.times = times},
                          [&] { return --submissions == 0; })
                    .ok());
    EXPECT_TRUE(device_->queue()->wait_idle().ok());
    return values_of<std::int32_t>(buffer).front();
  };
  EXPECT_EQ(counted(2, 1), kLaunches);
  EXPECT_EQ(counted(2, -1), 2 * kLaunches + 2);
}

std::atomic<bool> may_fail = false;

Status fail_when_told(const hal::host::WorkGroup&) {
  while (!may_fail) std::this_thread::yield();
  return Status(StatusCode::DeviceError, "the group fails");
}

// A run that exceeds the backlog waits, and reports errors of earlier runs.
TEST(DeviceProgramPace, ARunThatWaitsTellsTheErrorOfTheOnesBeforeIt) {
  const auto driver = hal::host::create_driver(
      {.threads = 1, .libraries = {{"test", {{"fail_when_told", fail_when_told}}}}});
  LaunchPlan plan;
  add_kernel(plan, {.codes = {{.format = KernelFormat::HostFunctions, .code = "test"}},
                    .entry = {.name = "fail_when_told", .params = {}}});
  plan.steps = {launch(0, {1, 1, 1}, {})};
  const auto device = *driver->open(0);
  const auto program = DeviceProgram::create(device, plan);
  TL_ASSERT_OK(program.status());
  may_fail = false;
  for (std::uint64_t i = 0; i < CommitPolicy().backlog; ++i) TL_EXPECT_OK((*program)->run({}, {}));
  // The second call comes when the run waits because the backlog is full.
  int asked = 0;
  Status status = (*program)->run({}, {}, {}, [&] {
    if (++asked == 2) may_fail = true;
    return false;
  });
  EXPECT_GE(asked, 2);
  may_fail = true;
  // On a slow machine the run may return before the failure: then the next wait reports the error.
  if (status.ok()) status = device->queue()->wait_idle();
  EXPECT_THAT(status, fails_with(StatusCode::DeviceError, "the group fails"));
}

// A kernel gets scalars in the order of its own parameters; each call sets all of them again.
TEST_F(DeviceProgramTest, Scalars) {
  const char* source = R"(
    __kernel void scale(float factor, __global float* x, long offset) {
      x[0] = x[0] * factor + (float)(offset >> 32);
    })";
  LaunchPlan plan = TestPlan{
      .scalars = {{.name = "offset", .element = hal::ElementType::Int64},
                  {.name = "factor", .element = hal::ElementType::Float32}},
      .arguments = {buffer_tensor("x", 4)},
      .temporaries = {},
      .kernels = {{.codes = opencl_c(source),
                   .entry = {.name = "scale",
                             .params = {ConstantParam{.name = "factor",
                                                      .type = hal::ElementType::Float32},
                                        BufferParam{.name = "x", .access = Access::ReadWrite},
                                        ConstantParam{.name = "offset",
                                                      .type = hal::ElementType::Int64}}}}},
      .steps = {launch(0, {1, 1, 1}, {ScalarValue{1}, argument(0), ScalarValue{0}})}};
  const auto program = make_program(plan);
  ASSERT_NE(program, nullptr);
  const auto buffer = make_buffer(hal::bytes_of(std::vector<float>{3}));
  const auto run = [&](const std::vector<hal::Constant>& scalars) {
    return program->run({{BufferBinding{buffer}}}, {.scalars = scalars});
  };
  const hal::Constant offset(std::int64_t{5} << 32), factor(0.5F);
  TL_ASSERT_OK(run({offset, factor}));
  TL_ASSERT_OK(run({offset, hal::Constant(2.0F)}));
  TL_ASSERT_OK(device_->queue()->wait_idle());
  EXPECT_EQ(values_of<float>(buffer), std::vector<float>{(3 * 0.5F + 5) * 2 + 5});
  EXPECT_THAT(run({offset}), refused("the plan has 2 scalars, got 1"));
  EXPECT_THAT(run({offset, factor, factor}), refused("the plan has 2 scalars, got 3"));
  EXPECT_THAT(run({factor, factor}), refused("the scalar \"offset\" is int64, got float32"));
  EXPECT_THAT(run({offset, offset}), refused("the scalar \"factor\" is float32, got int64"));
}

// The call and the enclosing loops determine a loop's trip count and a launch's group count.
TEST_F(DeviceProgramTest, ExtentsThatDependOnLoops) {
  const Size next = Size::of(Size::Op::Add, Size::loop_variable(0), 1);
  LaunchPlan plan = TestPlan{
      .symbols = {"n"},
      .arguments = {buffer_tensor("x", 4)},
      .temporaries = {},
      .kernels = {count_kernel()},
      .steps = {loop(0, Size::symbol(0),
                     {loop(1, next, {launch(0, {Size::loop_variable(1), 1, 1}, {argument(0)})})})}};
  const auto program = make_program(plan);
  ASSERT_NE(program, nullptr);
  for (const std::int64_t n : {4, 0, 3}) {
    const auto buffer = make_buffer(hal::Bytes(4, std::byte{0}));
    TL_ASSERT_OK(program->run({{BufferBinding{buffer}}}, {.symbols = std::vector{n}}));
    TL_ASSERT_OK(device_->queue()->wait_idle());
    EXPECT_EQ(values_of<std::int32_t>(buffer).front(), (n - 1) * n * (n + 1) / 6) << n;
  }
}

// Larger images full of NaN contain the tensors; nothing around the tensors is read or written.
TEST_F(DeviceProgramTest, TextureArgumentsAtOrigins) {
  const char* source = R"(
    __constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
    __kernel void next(__read_only image2d_t in, int ix, int iy, __write_only image2d_t out, int ox,
                       int oy) {
      int2 at = (int2)(get_global_id(0), get_global_id(1));
      write_imagef(out, at + (int2)(ox, oy), read_imagef(in, s, at + (int2)(ix, iy)) + 1.0f);
    })";
  const TextureParam in{.name = "in", .min_extent = kExtent, .origin = TextureOrigin::Constants};
  TextureParam out = in;
  out.name = "out";
  out.access = Access::Write;
  const LaunchPlan plan = TestPlan{
      .arguments = {texture_tensor("X", kExtent), texture_tensor("Y", kExtent)},
      .temporaries = {},
      .kernels = {{.codes = opencl_c(source),
                   .entry = {.name = "next",
                             .params = {in, ConstantParam{"in.x"}, ConstantParam{"in.y"}, out,
                                        ConstantParam{"out.x"}, ConstantParam{"out.y"}}}}},
      .steps = {launch(0, {8, 6, 1},
                       {argument(0), origin_x(argument(0)), origin_y(argument(0)), argument(1),
                        origin_x(argument(1)), origin_y(argument(1))})}};
  const auto program = make_program(plan);
  ASSERT_NE(program, nullptr);
  const auto source_image =
      make_texture_full_of(std::byte{0xff}, {20, 20}, TexelFormat::Rgba32Float);
  const auto target_image =
      make_texture_full_of(std::byte{0xff}, {16, 11}, TexelFormat::Rgba32Float);
  TL_ASSERT_OK(
      hal::write_texture(*device_, source_image, {{12, 3}, kExtent}, hal::bytes_of(ramp(kCount))));
  TL_ASSERT_OK(program->run(
      {{TextureBinding{source_image, {12, 3}}, TextureBinding{target_image, {7, 5}}}}));
  std::vector<float> result(kCount);
  TL_ASSERT_OK(
      hal::read_texture(*device_, target_image, {{7, 5}, kExtent}, hal::writable_bytes_of(result)));
  EXPECT_EQ(result, ramp(kCount, 1));
  const std::vector<float> all = values_of<float>(target_image);
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [](float v) { return !std::isnan(v); }),
            static_cast<std::ptrdiff_t>(kCount));

  EXPECT_THAT(
      program->run({{TextureBinding{source_image, {12, 3}}, TextureBinding{target_image, {9, 5}}}}),
      refused("argument 1 \"Y\": expected a texture rgba32float of 8x6 texels, got one of "
              "rgba32float with 16x11 texels, at origin (9, 5)"));
  EXPECT_THAT(program->run({{TextureBinding{source_image}, TextureBinding{source_image, {8, 0}}}}),
              refused("are the same texture"));
}

// Tensors whose sizes depend on the call may be adjacent in one buffer.
TEST_F(DeviceProgramTest, PartsOfOneBufferWhoseSizesDependOnTheCall) {
  const auto tensor = [](const char* name) {
    return TensorSpec{.name = name, .shape = {Size::symbol(0)}, .storage = BufferStorage{}};
  };
  const LaunchPlan plan = TestPlan{
      .symbols = {"n"},
      .arguments = {tensor("X"), tensor("Y")},
      .temporaries = {},
      .kernels = {{.codes = opencl_c("__kernel void next(__global const float* x,"
                                     "                   __global float* y) {"
                                     "  y[get_global_id(0)] = x[get_global_id(0)] + 1; }"),
                   .entry = {.name = "next",
                             .params = {BufferParam{.name = "x", .access = Access::Read},
                                        BufferParam{.name = "y", .access = Access::Write}}}}},
      .steps = {launch(0, {Size::symbol(0), 1, 1}, {argument(0), argument(1)})}};
  const auto program = make_program(plan);
  ASSERT_NE(program, nullptr);
  const std::uint64_t step = device_->info().limits.buffer_offset_alignment;
  const std::size_t half = step / 4;
  std::vector<float> values = ramp(2 * half);
  const auto buffer = make_buffer(hal::bytes_of(values));
  const auto run = [&](std::int64_t n) {
    return program->run({{BufferBinding{buffer, 0}, BufferBinding{buffer, step}}},
                        {.symbols = std::vector{n}});
  };
  TL_ASSERT_OK(run(static_cast<std::int64_t>(half) - 1));
  for (std::size_t i = 0; i + 1 < half; ++i) values[half + i] = values[i] + 1;
  EXPECT_EQ(values_of<float>(buffer), values);
  TL_EXPECT_OK(run(static_cast<std::int64_t>(half)));
  EXPECT_FALSE(run(static_cast<std::int64_t>(half) + 1).ok());
}

// A texture argument of exact extent is refused in a larger image, at any origin.
TEST_F(DeviceProgramTest, ExactImages) {
  LaunchPlan plan = add_one_plan();
  plan.temporaries = {};
  plan.arguments[0] = texture_tensor("X", kExtent);
  std::get<TextureStorage>(plan.arguments[0].storage).exact_extent = true;
  plan.steps = {launch(1, {1, 6, 1}, {argument(0), argument(1)})};
  const auto program = make_program(plan);
  ASSERT_NE(program, nullptr);
  const auto image_of = [&](hal::Extent2D extent) {
    return make_texture_full_of(std::byte{0xff}, extent, TexelFormat::Rgba32Float);  // NaN
  };
  const auto buffer = make_buffer(kCount * 4);
  TL_ASSERT_OK(program->run({{TextureBinding{image_of(kExtent)}, BufferBinding{buffer}}}));
  EXPECT_THAT(
      program->run({{TextureBinding{image_of({9, 6})}, BufferBinding{buffer}}}),
      refused("argument 0 \"X\": expected a texture rgba32float of exactly 8x6 texels, got one "
              "of rgba32float with 9x6 texels, at origin (0, 0)"));
}

TEST_F(DeviceProgramTest, ArgumentsThatDoNotFitAreNamed) {
  const auto program = make_program(add_one_plan());
  ASSERT_NE(program, nullptr);
  const BufferBinding good{make_buffer(kCount * 4)};
  const BufferBinding small{make_buffer(kCount * 4 - 1)};
  const TextureBinding texture{make_texture(kExtent, TexelFormat::Rgba32Float)};
  EXPECT_THAT(program->run({}), refused("takes 2 arguments, got 0"));
  EXPECT_THAT(program->run({{good, good, good}}), refused("takes 2 arguments, got 3"));
  EXPECT_THAT(program->run({{good, small}}),
              refused("argument 1 \"Y\": expected a buffer of 768 bytes, got one of 767 bytes"));
  EXPECT_THAT(program->run({{BufferBinding{good.buffer, 1}, good}}),
              refused("argument 0 \"X\": expected a buffer of 768 bytes, got one of 768 bytes, at "
                      "offset 1"));
  EXPECT_THAT(program->run({{texture, good}}),
              refused("argument 0 \"X\": expected a buffer of 768 bytes, got a texture"));
  EXPECT_THAT(program->run({{BufferBinding{}, good}}), refused("argument 0 \"X\": the buffer is"));
  const Result<std::shared_ptr<hal::Device>> other = driver_->open(0);
  ASSERT_TRUE(other.ok());
  const auto foreign = (*other)->create_buffer({.bytes = kCount * 4});
  ASSERT_TRUE(foreign.ok());
  EXPECT_THAT(program->run({{BufferBinding{*foreign}, good}}),
              refused("kernel \"copy_in\": argument 0 \"in\": the buffer belongs to another"));
  TL_ASSERT_OK(program->run({{good, BufferBinding{make_buffer(kCount * 4)}}}));
}

TEST_F(DeviceProgramTest, TextureArgumentsThatDoNotFitAreNamed) {
  LaunchPlan plan = add_one_plan();
  plan.arguments = {texture_tensor("X", kExtent), buffer_tensor("Y", kCount * 4)};
  plan.temporaries.clear();
  plan.steps = {launch(1, {1, 6, 1}, {argument(0), argument(1)})};
  const auto program = make_program(plan);
  ASSERT_NE(program, nullptr);
  const BufferBinding out{make_buffer(kCount * 4)};
  EXPECT_THAT(program->run({{out, out}}),
              refused("expected a texture rgba32float of 8x6 texels, got a buffer"));
  EXPECT_THAT(program->run({{TextureBinding{}, out}}), refused("the texture is null"));
  EXPECT_THAT(
      program->run({{TextureBinding{make_texture(kExtent, TexelFormat::Rgba16Float)}, out}}),
      refused("got one of rgba16float"));
  EXPECT_THAT(
      program->run({{TextureBinding{make_texture({8, 7}, TexelFormat::Rgba32Float), {0, 1}}, out}}),
      refused("argument 0 \"in\": is specialized for origin (0, 0), got origin (0, 1)"));
}

TEST_F(DeviceProgramTest, ErrorsComeWhenTheProgramIsMade) {
  const auto status_of = [&](const LaunchPlan& plan) {
    return DeviceProgram::create(device_, plan).status();
  };
  EXPECT_THAT(DeviceProgram::create(nullptr, add_one_plan()).status(), refused("device is null"));
  LaunchPlan plan = add_one_plan();
  plan.modules[1].codes = opencl_c("__kernel void add_one(");
  EXPECT_THAT(status_of(plan), fails_with(StatusCode::BuildFailed, "build log"));
  plan = add_one_plan();
  plan.steps.insert(plan.steps.begin(), FreeStep{0});
  EXPECT_THAT(status_of(plan), refused("launch plan: temporary \"X.texture\" is freed"));
  plan = add_one_plan();
  plan.temporaries[0] =
      texture_tensor("X.texture", {device_->info().limits.max_image_width + 1, 6});
  EXPECT_THAT(status_of(plan), refused("over the limit"));
}

TEST_F(DeviceProgramTest, ThreadsShareAProgram) {
  const auto program = make_program(add_one_plan());
  ASSERT_NE(program, nullptr);
  constexpr int kThreads = 4;
  std::vector<std::shared_ptr<hal::Buffer>> inputs, outputs;
  for (int t = 0; t < kThreads; ++t) {
    inputs.push_back(make_buffer(hal::bytes_of(ramp(kCount, static_cast<float>(1000 * t)))));
    outputs.push_back(make_buffer(kCount * 4));
  }
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 25; ++round)
        if (!program->run({{BufferBinding{inputs[t]}, BufferBinding{outputs[t]}}}).ok()) ++failures;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  TL_ASSERT_OK(device_->queue()->wait_idle());
  for (int t = 0; t < kThreads; ++t)
    EXPECT_EQ(values_of<float>(outputs[t]), ramp(kCount, static_cast<float>(1000 * t) + 1));
}

TEST_F(DeviceProgramTest, MayBeReleasedWhileItsRunIsUnderWay) {
  const auto output = make_buffer(kCount * 4);
  {
    const auto program = make_program(add_one_plan());
    ASSERT_NE(program, nullptr);
    const auto input = make_buffer(hal::bytes_of(ramp(kCount)));
    TL_ASSERT_OK(program->run({{BufferBinding{input}, BufferBinding{output}}}));
  }
  EXPECT_EQ(values_of<float>(output), ramp(kCount, 1));
}

}  // namespace
}  // namespace texloom::runtime
