// Launch plans, run on a device.
#include "runtime/plan_executor.h"

#include <atomic>
#include <cmath>
#include <thread>
#include <utility>

#include "tests/runtime/opencl_fixture.h"
#include "tests/runtime/plan_fixture.h"

namespace texloom::runtime {
namespace {

using hal::Access;
using hal::BufferBinding;
using hal::BufferParam;
using hal::ConstantParam;
using hal::Extent2D;
using hal::fails_with;
using hal::opencl_c;
using hal::TexelFormat;
using hal::TextureBinding;
using hal::TextureOrigin;
using hal::TextureParam;

// Buffer to texture, texture plus one to buffer: the shape of the `cache_read` example.
constexpr Extent2D kExtent{8, 6};
constexpr std::size_t kCount = 8 * 6 * 4;

constexpr const char* kCopyIn = R"(
  __kernel void copy_in(__global const float* in, __write_only image2d_t out) {
    int x = get_global_id(0), y = get_global_id(1);
    write_imagef(out, (int2)(x, y), vload4(y * 8 + x, in));
  })";
constexpr const char* kAddOne = R"(
  __constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
  __kernel void add_one(__read_only image2d_t in, __global float* out) {
    int x = get_global_id(0), y = get_global_id(1);
    vstore4(read_imagef(in, s, (int2)(x, y)) + 1.0f, y * 8 + x, out);
  })";

KernelSpec copy_in_kernel() {
  return {.codes = opencl_c(kCopyIn, {"-cl-std=CL1.2"}),
          .entry = {.name = "copy_in",
                    .params = {BufferParam{.name = "in", .min_bytes = kCount * 4},
                               TextureParam{
                                   .name = "out", .access = Access::Write, .min_extent = kExtent}},
                    .workgroup_size = {4, 2, 1}}};
}
KernelSpec add_one_kernel() {
  return {
      .codes = opencl_c(kAddOne, {"-cl-std=CL1.2"}),
      .entry = {
          .name = "add_one",
          .params = {TextureParam{.name = "in", .min_extent = kExtent},
                     BufferParam{.name = "out", .access = Access::Write, .min_bytes = kCount * 4}},
          .workgroup_size = {8, 1, 1}}};
}

// Says how many threads ran.
KernelSpec count_kernel() {
  return {.codes = opencl_c("__kernel void count(__global int* x) { atomic_add(x, 1); }"),
          .entry = {.name = "count",
                    .params = {BufferParam{.name = "x", .access = Access::ReadWrite}}}};
}

LaunchPlan add_one_plan() {
  return {.arguments = {buffer_tensor("X", kCount * 4), buffer_tensor("Y", kCount * 4)},
          .temporaries = {texture_tensor("X.texture", kExtent)},
          .kernels = {copy_in_kernel(), add_one_kernel()},
          .steps = {AllocateStep{0}, launch(0, {2, 3, 1}, {argument(0), temporary(0)}),
                    launch(1, {1, 6, 1}, {temporary(0), argument(1)}), FreeStep{0}}};
}

std::vector<float> ramp(std::size_t count, float start = 0) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = start + static_cast<float>(i);
  return values;
}

class PlanExecutorTest : public hal::OpenClTest {
 protected:
  std::shared_ptr<PlanExecutor> make_executor(LaunchPlan plan) {
    auto executor = PlanExecutor::create(device_, std::move(plan));
    EXPECT_TRUE(executor.ok()) << executor.status().to_string();
    return executor.ok() ? *executor : nullptr;
  }
  auto refused(const std::string& part) { return fails_with(StatusCode::InvalidArgument, part); }
};

TEST_F(PlanExecutorTest, TwoKernelsThroughATexture) {
  const auto executor = make_executor(add_one_plan());
  ASSERT_NE(executor, nullptr);
  // Several runs in flight share the temporary.
  std::vector<std::shared_ptr<hal::Buffer>> outputs;
  for (int run = 0; run < 5; ++run) {
    const auto input = make_buffer(hal::bytes_of(ramp(kCount, 100.0f * static_cast<float>(run))));
    outputs.push_back(make_buffer(kCount * 4));
    TL_ASSERT_OK(executor->run({{BufferBinding{input}, BufferBinding{outputs.back()}}}));
  }
  TL_ASSERT_OK(device_->queue()->wait_idle());
  for (int run = 0; run < 5; ++run)
    EXPECT_EQ(values_of<float>(outputs[run]),
              ramp(kCount, 100.0f * static_cast<float>(run) + 1.0f));
}

TEST_F(PlanExecutorTest, BufferArgumentsAtOffsets) {
  const auto executor = make_executor(add_one_plan());
  ASSERT_NE(executor, nullptr);
  const std::uint64_t offset = device_->info().limits.buffer_offset_alignment;
  std::vector<float> data(offset / 4, -1.0f);
  const std::vector<float> input = ramp(kCount);
  data.insert(data.end(), input.begin(), input.end());
  const auto buffer = make_buffer(hal::bytes_of(data));
  const auto output = make_buffer(kCount * 4);
  TL_ASSERT_OK(executor->run({{BufferBinding{buffer, offset}, BufferBinding{output}}}));
  TL_ASSERT_OK(device_->queue()->wait_idle());
  EXPECT_EQ(values_of<float>(output), ramp(kCount, 1));
}

TEST_F(PlanExecutorTest, ArgumentsThatShareMemory) {
  const auto executor = make_executor(add_one_plan());
  ASSERT_NE(executor, nullptr);
  const auto both = make_buffer(kCount * 4);
  EXPECT_THAT(executor->run({{BufferBinding{both}, BufferBinding{both}}}),
              refused("arguments \"X\" and \"Y\" share memory, which is written"));
}

// Each run reads what the one before wrote.
TEST_F(PlanExecutorTest, SeveralRunsAtOnce) {
  const auto executor = make_executor(
      {.arguments = {buffer_tensor("x", 4)},
       .temporaries = {},
       .kernels = {{.codes =
                        opencl_c("__kernel void triple(__global int* x) { x[0] = x[0] * 3 + 1; }"),
                    .entry = {.name = "triple",
                              .params = {BufferParam{.name = "x", .access = Access::ReadWrite}}}}},
       .steps = {launch(0, {1, 1, 1}, {argument(0)})}});
  ASSERT_NE(executor, nullptr);
  const auto buffer = make_buffer(hal::bytes_of(std::vector<std::int32_t>{0}));
  TL_ASSERT_OK(executor->run({{BufferBinding{buffer}}}, {}, 4));
  TL_ASSERT_OK(device_->queue()->wait_idle());
  EXPECT_EQ(values_of<std::int32_t>(buffer), std::vector<std::int32_t>{40});
}

// A serial loop of the plan: the buffer gathers its variables in order, in base 10.
TEST_F(PlanExecutorTest, LoopVariablesReachTheKernels) {
  const char* source =
      "__kernel void push(__global long* x, int i, long j, int k) { x[0] = x[0] * 1000 + i * 100 + "
      "j * 10 + k; }";
  LaunchPlan plan{
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
  const auto executor = make_executor(plan);
  ASSERT_NE(executor, nullptr);
  const auto buffer = make_buffer(hal::Bytes(8, std::byte{0}));
  TL_ASSERT_OK(executor->run({{BufferBinding{buffer}}}));
  TL_ASSERT_OK(device_->queue()->wait_idle());
  EXPECT_EQ(values_of<std::int64_t>(buffer), std::vector<std::int64_t>{7'017'107'117});
}

// Behind each submission the caller may stop what is left; the next run begins anew.
TEST_F(PlanExecutorTest, Interrupted) {
  LaunchPlan plan{
      .arguments = {buffer_tensor("x", 4)},
      .temporaries = {},
      .kernels = {count_kernel()},
      .steps = {loop(0, kLaunchesPerSubmission + 1, {launch(0, {1, 1, 1}, {argument(0)})})}};
  const auto executor = make_executor(plan);
  ASSERT_NE(executor, nullptr);
  const auto counted = [&](int times, int submissions) {
    const auto buffer = make_buffer(hal::Bytes(4, std::byte{0}));
    EXPECT_TRUE(
        executor->run({{BufferBinding{buffer}}}, {}, times, [&] { return --submissions == 0; })
            .ok());
    EXPECT_TRUE(device_->queue()->wait_idle().ok());
    return values_of<std::int32_t>(buffer).front();
  };
  EXPECT_EQ(counted(2, 1), kLaunchesPerSubmission);
  EXPECT_EQ(counted(2, -1), 2 * kLaunchesPerSubmission + 2);
}

// Scalars of a call, in an order of the kernel's own; each call gives them anew.
TEST_F(PlanExecutorTest, Scalars) {
  const char* source = R"(
    __kernel void scale(float factor, __global float* x, long offset) {
      x[0] = x[0] * factor + (float)(offset >> 32);
    })";
  LaunchPlan plan{
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
  const auto executor = make_executor(plan);
  ASSERT_NE(executor, nullptr);
  const auto buffer = make_buffer(hal::bytes_of(std::vector<float>{3}));
  const auto run = [&](const std::vector<hal::Constant>& scalars) {
    return executor->run({{BufferBinding{buffer}}}, {.scalars = scalars});
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

// How often a loop runs, and how many groups it launches, the call and the loops around say.
TEST_F(PlanExecutorTest, ExtentsThatDependOnLoops) {
  const Size next = Size::of(Size::Op::Add, Size::loop_variable(0), 1);
  LaunchPlan plan{
      .symbols = {"n"},
      .arguments = {buffer_tensor("x", 4)},
      .temporaries = {},
      .kernels = {count_kernel()},
      .steps = {loop(0, Size::symbol(0),
                     {loop(1, next, {launch(0, {Size::loop_variable(1), 1, 1}, {argument(0)})})})}};
  const auto executor = make_executor(plan);
  ASSERT_NE(executor, nullptr);
  for (const std::int64_t n : {4, 0, 3}) {
    const auto buffer = make_buffer(hal::Bytes(4, std::byte{0}));
    TL_ASSERT_OK(executor->run({{BufferBinding{buffer}}}, {.symbols = std::vector{n}}));
    TL_ASSERT_OK(device_->queue()->wait_idle());
    EXPECT_EQ(values_of<std::int32_t>(buffer).front(), (n - 1) * n * (n + 1) / 6) << n;
  }
}

// Tensors at origins of larger images full of NaN; nothing around them is read or written.
TEST_F(PlanExecutorTest, TextureArgumentsAtOrigins) {
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
  const LaunchPlan plan{
      .arguments = {texture_tensor("X", kExtent), texture_tensor("Y", kExtent)},
      .temporaries = {},
      .kernels = {{.codes = opencl_c(source),
                   .entry = {.name = "next",
                             .params = {in, ConstantParam{"in.x"}, ConstantParam{"in.y"}, out,
                                        ConstantParam{"out.x"}, ConstantParam{"out.y"}}}}},
      .steps = {launch(0, {8, 6, 1},
                       {argument(0), origin_x(argument(0)), origin_y(argument(0)), argument(1),
                        origin_x(argument(1)), origin_y(argument(1))})}};
  const auto executor = make_executor(plan);
  ASSERT_NE(executor, nullptr);
  const auto source_image =
      make_texture_full_of(std::byte{0xff}, {20, 20}, TexelFormat::Rgba32Float);
  const auto target_image =
      make_texture_full_of(std::byte{0xff}, {16, 11}, TexelFormat::Rgba32Float);
  TL_ASSERT_OK(
      hal::write_texture(*device_, source_image, {{12, 3}, kExtent}, hal::bytes_of(ramp(kCount))));
  TL_ASSERT_OK(executor->run(
      {{TextureBinding{source_image, {12, 3}}, TextureBinding{target_image, {7, 5}}}}));
  std::vector<float> result(kCount);
  TL_ASSERT_OK(
      hal::read_texture(*device_, target_image, {{7, 5}, kExtent}, hal::writable_bytes_of(result)));
  EXPECT_EQ(result, ramp(kCount, 1));
  const std::vector<float> all = values_of<float>(target_image);
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [](float v) { return !std::isnan(v); }),
            static_cast<std::ptrdiff_t>(kCount));

  EXPECT_THAT(executor->run(
                  {{TextureBinding{source_image, {12, 3}}, TextureBinding{target_image, {9, 5}}}}),
              refused("argument 1 \"Y\": wants a texture rgba32float of 8x6 texels, got one of "
                      "rgba32float with 16x11 texels, at origin (9, 5)"));
  EXPECT_THAT(executor->run({{TextureBinding{source_image}, TextureBinding{source_image, {8, 0}}}}),
              refused("are the same texture"));
}

// Behind the contract of exactly this extent a larger image is refused, wherever the tensor lies.
TEST_F(PlanExecutorTest, ExactImages) {
  LaunchPlan plan = add_one_plan();
  plan.temporaries = {};
  plan.arguments[0] = texture_tensor("X", kExtent);
  std::get<TextureStorage>(plan.arguments[0].storage).exact_extent = true;
  plan.steps = {launch(1, {1, 6, 1}, {argument(0), argument(1)})};
  const auto executor = make_executor(plan);
  ASSERT_NE(executor, nullptr);
  const auto image_of = [&](hal::Extent2D extent) {
    return make_texture_full_of(std::byte{0xff}, extent, TexelFormat::Rgba32Float);  // NaN
  };
  const auto buffer = make_buffer(kCount * 4);
  TL_ASSERT_OK(executor->run({{TextureBinding{image_of(kExtent)}, BufferBinding{buffer}}}));
  EXPECT_THAT(
      executor->run({{TextureBinding{image_of({9, 6})}, BufferBinding{buffer}}}),
      refused("argument 0 \"X\": wants a texture rgba32float of exactly 8x6 texels, got one "
              "of rgba32float with 9x6 texels, at origin (0, 0)"));
}

// Two temporaries that live one after the other, of different extents, in one image; the second is
// smaller than the image and finds old values around it.
TEST_F(PlanExecutorTest, FreedTemporariesAreRecycled) {
  LaunchPlan plan = add_one_plan();
  plan.temporaries = {texture_tensor("large", {16, 12}), texture_tensor("small", kExtent)};
  plan.arguments.push_back(buffer_tensor("Z", kCount * 4));
  plan.steps = {AllocateStep{0},
                launch(0, {2, 3, 1}, {argument(0), temporary(0)}),
                launch(1, {1, 6, 1}, {temporary(0), argument(1)}),
                FreeStep{0},
                AllocateStep{1},
                launch(0, {2, 3, 1}, {argument(1), temporary(1)}),
                launch(1, {1, 6, 1}, {temporary(1), argument(2)}),
                FreeStep{1}};
  const auto executor = make_executor(plan);
  ASSERT_NE(executor, nullptr);
  const auto x = make_buffer(hal::bytes_of(ramp(kCount)));
  const auto y = make_buffer(kCount * 4);
  const auto z = make_buffer(kCount * 4);
  for (int run = 0; run < 3; ++run)
    TL_ASSERT_OK(executor->run({{BufferBinding{x}, BufferBinding{y}, BufferBinding{z}}}));
  TL_ASSERT_OK(device_->queue()->wait_idle());
  EXPECT_EQ(values_of<float>(y), ramp(kCount, 1));
  EXPECT_EQ(values_of<float>(z), ramp(kCount, 2));
}

// Programs of a device take turns in the same memory, and no run asks the driver for more.
TEST_F(PlanExecutorTest, ProgramsShareTheirTemporaries) {
  const auto first = make_executor(add_one_plan());
  const auto second = make_executor(add_one_plan());
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  const auto x = make_buffer(hal::bytes_of(ramp(kCount)));
  const auto y = make_buffer(kCount * 4), z = make_buffer(kCount * 4);
  for (int run = 0; run < 5; ++run) {
    TL_ASSERT_OK(first->run({{BufferBinding{x}, BufferBinding{y}}}));
    TL_ASSERT_OK(second->run({{BufferBinding{y}, BufferBinding{z}}}));
  }
  TL_ASSERT_OK(device_->queue()->wait_idle());
  EXPECT_EQ(values_of<float>(z), ramp(kCount, 2));
  const hal::WorkspaceStatistics statistics = device_->workspace_pool().statistics();
  EXPECT_EQ(statistics.driver_allocations, 1U);
  EXPECT_EQ(statistics.exact_hits, 11U);
  EXPECT_EQ(statistics.bytes_in_use, 0U);
  // What was taken away meanwhile is made anew.
  device_->workspace_pool().trim();
  TL_ASSERT_OK(first->run({{BufferBinding{z}, BufferBinding{y}}}));
  EXPECT_EQ(values_of<float>(y), ramp(kCount, 3));
}

// A run of several submissions keeps its temporaries to the last: those of another program that
// come in between have their own.
TEST_F(PlanExecutorTest, RunsOfSeveralSubmissionsKeepTheirTemporaries) {
  LaunchPlan plan = add_one_plan();
  plan.kernels.push_back(count_kernel());
  plan.arguments.push_back(buffer_tensor("n", 4));
  plan.steps.insert(plan.steps.begin() + 2,
                    loop(0, kLaunchesPerSubmission, {launch(2, {1, 1, 1}, {argument(2)})}));
  constexpr int kPrograms = 2;
  std::vector<std::shared_ptr<PlanExecutor>> executors;
  std::vector<std::shared_ptr<hal::Buffer>> inputs, outputs, counts;
  for (int i = 0; i < kPrograms; ++i) {
    executors.push_back(make_executor(plan));
    ASSERT_NE(executors.back(), nullptr);
    inputs.push_back(make_buffer(hal::bytes_of(ramp(kCount, static_cast<float>(1000 * i)))));
    outputs.push_back(make_buffer(kCount * 4));
    counts.push_back(make_buffer(hal::Bytes(4, std::byte{0})));
  }
  std::atomic<int> failures = 0;
  // The first one's temporary is written and not yet read when the other one runs as a whole.
  TL_ASSERT_OK(executors[0]->run(
      {{BufferBinding{inputs[0]}, BufferBinding{outputs[0]}, BufferBinding{counts[0]}}}, {}, 1,
      [&, done = false]() mutable {
        if (!std::exchange(done, true) &&
            !executors[1]
                 ->run({{BufferBinding{inputs[1]}, BufferBinding{outputs[1]},
                         BufferBinding{counts[1]}}})
                 .ok())
          ++failures;
        return false;
      }));
  EXPECT_EQ(failures, 0);
  TL_ASSERT_OK(device_->queue()->wait_idle());
  for (int i = 0; i < kPrograms; ++i)
    EXPECT_EQ(values_of<float>(outputs[i]), ramp(kCount, static_cast<float>(1000 * i) + 1)) << i;
  EXPECT_EQ(device_->workspace_pool().statistics().driver_allocations, 2U);
}

// A run that is refused half way gives its temporaries back.
TEST_F(PlanExecutorTest, FailedRunsGiveTheirTemporariesBack) {
  const auto executor = make_executor(add_one_plan());
  ASSERT_NE(executor, nullptr);
  const BufferBinding good{make_buffer(kCount * 4)};
  const auto constant = make_buffer(kCount * 4, hal::BufferUsage::CopySource);
  EXPECT_FALSE(executor->run({{good, BufferBinding{constant}}}).ok());
  EXPECT_EQ(device_->workspace_pool().statistics().bytes_in_use, 0U);
  TL_ASSERT_OK(executor->run({{good, BufferBinding{make_buffer(kCount * 4)}}}));
  EXPECT_EQ(device_->workspace_pool().statistics().driver_allocations, 1U);
}

// The pool's texture is larger than the temporary, and full of NaN.
TEST_F(PlanExecutorTest, TemporariesInLargerTexturesFullOfNaN) {
  constexpr Extent2D kLarge{20, 9};
  const char* source = R"(
    __kernel void fill(__write_only image2d_t out) {
      write_imagef(out, (int2)(get_global_id(0), get_global_id(1)), (float4)(NAN));
    })";
  const auto fill = make_executor(
      {.arguments = {},
       .temporaries = {texture_tensor("T", kLarge)},
       .kernels = {{.codes = opencl_c(source),
                    .entry = {.name = "fill",
                              .params = {TextureParam{
                                  .name = "out", .access = Access::Write, .min_extent = kLarge}}}}},
       .steps = {AllocateStep{0}, launch(0, {kLarge.width, kLarge.height, 1}, {temporary(0)})}});
  const auto executor = make_executor(add_one_plan());
  ASSERT_NE(fill, nullptr);
  ASSERT_NE(executor, nullptr);
  const auto x = make_buffer(hal::bytes_of(ramp(kCount)));
  const auto y = make_buffer(kCount * 4);
  TL_ASSERT_OK(fill->run({}));
  TL_ASSERT_OK(executor->run({{BufferBinding{x}, BufferBinding{y}}}));
  EXPECT_EQ(values_of<float>(y), ramp(kCount, 1));
  // There was one texture, and around the temporary it is full of NaN still.
  EXPECT_EQ(device_->workspace_pool().statistics().driver_allocations, 1U);
  const auto lease = device_->workspace_pool().acquire(
      device_->queue(),
      hal::TextureDesc{.extent = kLarge,
                       .usage = hal::TextureUsage::Sampled | hal::TextureUsage::Storage});
  ASSERT_TRUE(lease.ok());
  // 20 texels to the row: a buffer of the whole row shows both.
  const char* row_source = R"(
    __constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
    __kernel void row(__read_only image2d_t in, __global float* out) {
      out[get_global_id(0)] = read_imagef(in, s, (int2)(get_global_id(0), 0)).x;
    })";
  const auto row = make_executor(
      {.arguments = {texture_tensor("T", kLarge), buffer_tensor("Y", kLarge.width * 4)},
       .temporaries = {},
       .kernels = {{.codes = opencl_c(row_source),
                    .entry = {.name = "row",
                              .params = {TextureParam{.name = "in", .min_extent = kLarge},
                                         BufferParam{.name = "out",
                                                     .access = Access::Write,
                                                     .min_bytes = kLarge.width * 4}}}}},
       .steps = {launch(0, {kLarge.width, 1, 1}, {argument(0), argument(1)})}});
  ASSERT_NE(row, nullptr);
  const auto seen = make_buffer(kLarge.width * 4);
  TL_ASSERT_OK(row->run({{TextureBinding{lease->object()}, BufferBinding{seen}}}));
  const std::vector<float> values = values_of<float>(seen);
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(std::isnan(values[i]), i >= kExtent.width) << i;
}

TEST_F(PlanExecutorTest, BufferTemporaries) {
  const LaunchPlan plan{
      .arguments = {buffer_tensor("X", 64), buffer_tensor("Y", 64)},
      .temporaries = {buffer_tensor("T", 64)},
      .kernels = {{.codes = opencl_c(
                       "__kernel void next_of(__global const float* in, __global float* out) {"
                       "  out[get_global_id(0)] = in[get_global_id(0)] + 1.0f; }"),
                   .entry = {.name = "next_of",
                             .params = {BufferParam{.name = "in", .min_bytes = 64},
                                        BufferParam{.name = "out",
                                                    .access = Access::Write,
                                                    .min_bytes = 64}}}}},
      .steps = {AllocateStep{0}, launch(0, {16, 1, 1}, {argument(0), temporary(0)}),
                launch(0, {16, 1, 1}, {temporary(0), argument(1)}), FreeStep{0}}};
  const auto executor = make_executor(plan);
  ASSERT_NE(executor, nullptr);
  const auto input = make_buffer(hal::bytes_of(ramp(16)));
  const auto output = make_buffer(64);
  TL_ASSERT_OK(executor->run({{BufferBinding{input}, BufferBinding{output}}}));
  EXPECT_EQ(values_of<float>(output), ramp(16, 2));
}

TEST_F(PlanExecutorTest, ArgumentsThatDoNotFitAreNamed) {
  const auto executor = make_executor(add_one_plan());
  ASSERT_NE(executor, nullptr);
  const BufferBinding good{make_buffer(kCount * 4)};
  const BufferBinding small{make_buffer(kCount * 4 - 1)};
  const TextureBinding texture{make_texture(kExtent, TexelFormat::Rgba32Float)};
  EXPECT_THAT(executor->run({}), refused("takes 2 arguments, got 0"));
  EXPECT_THAT(executor->run({{good, good, good}}), refused("takes 2 arguments, got 3"));
  EXPECT_THAT(executor->run({{good, small}}),
              refused("argument 1 \"Y\": wants a buffer of 768 bytes, got one of 767 bytes"));
  EXPECT_THAT(executor->run({{BufferBinding{good.buffer, 1}, good}}),
              refused("argument 0 \"X\": wants a buffer of 768 bytes, got one of 768 bytes, at "
                      "offset 1"));
  EXPECT_THAT(executor->run({{texture, good}}),
              refused("argument 0 \"X\": wants a buffer of 768 bytes, got a texture"));
  EXPECT_THAT(executor->run({{BufferBinding{}, good}}), refused("argument 0 \"X\": the buffer is"));
  const Result<std::shared_ptr<hal::Device>> other = driver_->open(0);
  ASSERT_TRUE(other.ok());
  const auto foreign = (*other)->create_buffer({.bytes = kCount * 4});
  ASSERT_TRUE(foreign.ok());
  EXPECT_THAT(executor->run({{BufferBinding{*foreign}, good}}),
              refused("kernel \"copy_in\": argument 0 \"in\": the buffer belongs to another"));
  TL_ASSERT_OK(executor->run({{good, BufferBinding{make_buffer(kCount * 4)}}}));
}

TEST_F(PlanExecutorTest, TextureArgumentsThatDoNotFitAreNamed) {
  LaunchPlan plan = add_one_plan();
  plan.arguments = {texture_tensor("X", kExtent), buffer_tensor("Y", kCount * 4)};
  plan.temporaries.clear();
  plan.steps = {launch(1, {1, 6, 1}, {argument(0), argument(1)})};
  const auto executor = make_executor(plan);
  ASSERT_NE(executor, nullptr);
  const BufferBinding out{make_buffer(kCount * 4)};
  EXPECT_THAT(executor->run({{out, out}}),
              refused("wants a texture rgba32float of 8x6 texels, got a buffer"));
  EXPECT_THAT(executor->run({{TextureBinding{}, out}}), refused("the texture is null"));
  EXPECT_THAT(
      executor->run({{TextureBinding{make_texture(kExtent, TexelFormat::Rgba16Float)}, out}}),
      refused("got one of rgba16float"));
  EXPECT_THAT(executor->run(
                  {{TextureBinding{make_texture({8, 7}, TexelFormat::Rgba32Float), {0, 1}}, out}}),
              refused("argument 0 \"in\": is specialised for origin (0, 0), got origin (0, 1)"));
}

TEST_F(PlanExecutorTest, ErrorsComeWhenTheExecutorIsMade) {
  const auto status_of = [&](const LaunchPlan& plan) {
    return PlanExecutor::create(device_, plan).status();
  };
  EXPECT_THAT(PlanExecutor::create(nullptr, add_one_plan()).status(), refused("device is null"));
  LaunchPlan plan = add_one_plan();
  plan.kernels[1].codes = opencl_c("__kernel void add_one(");
  EXPECT_THAT(status_of(plan), fails_with(StatusCode::BuildFailed, "build log"));
  plan = add_one_plan();
  plan.steps.insert(plan.steps.begin(), FreeStep{0});
  EXPECT_THAT(status_of(plan), refused("launch plan: temporary \"X.texture\" is freed"));
  plan = add_one_plan();
  plan.temporaries[0] =
      texture_tensor("X.texture", {device_->info().limits.max_image_width + 1, 6});
  EXPECT_THAT(status_of(plan), refused("over the limit"));
}

TEST_F(PlanExecutorTest, ThreadsShareAnExecutor) {
  const auto executor = make_executor(add_one_plan());
  ASSERT_NE(executor, nullptr);
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
        if (!executor->run({{BufferBinding{inputs[t]}, BufferBinding{outputs[t]}}}).ok())
          ++failures;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  TL_ASSERT_OK(device_->queue()->wait_idle());
  for (int t = 0; t < kThreads; ++t)
    EXPECT_EQ(values_of<float>(outputs[t]), ramp(kCount, static_cast<float>(1000 * t) + 1));
}

TEST_F(PlanExecutorTest, MayBeReleasedWhileItsRunIsUnderWay) {
  const auto output = make_buffer(kCount * 4);
  {
    const auto executor = make_executor(add_one_plan());
    ASSERT_NE(executor, nullptr);
    const auto input = make_buffer(hal::bytes_of(ramp(kCount)));
    TL_ASSERT_OK(executor->run({{BufferBinding{input}, BufferBinding{output}}}));
  }
  EXPECT_EQ(values_of<float>(output), ramp(kCount, 1));
}

}  // namespace
}  // namespace texloom::runtime
