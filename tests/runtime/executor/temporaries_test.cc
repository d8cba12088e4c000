// Tests how runs and programs share the temporaries of launch plans.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "tests/runtime/executor/device_program_fixture.h"

namespace texloom::runtime {
namespace {

// Two temporaries use one image in turn; the second is smaller, with old values around it.
TEST_F(DeviceProgramTest, FreedTemporariesAreRecycled) {
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
  const auto program = make_program(plan);
  ASSERT_NE(program, nullptr);
  const auto x = make_buffer(hal::bytes_of(ramp(kCount)));
  const auto y = make_buffer(kCount * 4);
  const auto z = make_buffer(kCount * 4);
  for (int run = 0; run < 3; ++run)
    TL_ASSERT_OK(program->run({{BufferBinding{x}, BufferBinding{y}, BufferBinding{z}}}));
  TL_ASSERT_OK(device_->queue()->wait_idle());
  EXPECT_EQ(values_of<float>(y), ramp(kCount, 1));
  EXPECT_EQ(values_of<float>(z), ramp(kCount, 2));
}

// Programs of a device use the same memory in turn; later runs request none from the driver.
TEST_F(DeviceProgramTest, ProgramsShareTheirTemporaries) {
  const auto first = make_program(add_one_plan());
  const auto second = make_program(add_one_plan());
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  const auto x = make_buffer(hal::bytes_of(ramp(kCount)));
  const auto y = make_buffer(kCount * 4), z = make_buffer(kCount * 4);
  const std::uint64_t hits = device_->workspace_pool().statistics().exact_hits;
  for (int run = 0; run < 5; ++run) {
    TL_ASSERT_OK(first->run({{BufferBinding{x}, BufferBinding{y}}}));
    TL_ASSERT_OK(second->run({{BufferBinding{y}, BufferBinding{z}}}));
  }
  TL_ASSERT_OK(device_->queue()->wait_idle());
  EXPECT_EQ(values_of<float>(z), ramp(kCount, 2));
  const hal::WorkspaceStatistics statistics = device_->workspace_pool().statistics();
  EXPECT_EQ(statistics.driver_allocations, 1U);
  EXPECT_EQ(statistics.exact_hits, hits + 10);
  EXPECT_EQ(statistics.bytes_in_use, 0U);
  // Trimmed memory is allocated again.
  device_->workspace_pool().trim();
  TL_ASSERT_OK(first->run({{BufferBinding{z}, BufferBinding{y}}}));
  EXPECT_EQ(values_of<float>(y), ramp(kCount, 3));
}

// A run of several submissions keeps its temporaries to the end; another program that runs in
// between gets different ones.
TEST_F(DeviceProgramTest, RunsOfSeveralSubmissionsKeepTheirTemporaries) {
  constexpr int kLaunches = 8;
  LaunchPlan plan = add_one_plan();
  add_kernel(plan, count_kernel());
  plan.arguments.push_back(buffer_tensor("n", 4));
  plan.steps.insert(plan.steps.begin() + 2,
                    loop(0, kLaunches, {launch(2, {1, 1, 1}, {argument(2)})}));
  constexpr int kPrograms = 2;
  std::vector<std::shared_ptr<DeviceProgram>> programs;
  std::vector<std::shared_ptr<hal::Buffer>> inputs, outputs, counts;
  for (int i = 0; i < kPrograms; ++i) {
    programs.push_back(make_program(plan, {.launches = kLaunches}));
    ASSERT_NE(programs.back(), nullptr);
    inputs.push_back(make_buffer(hal::bytes_of(ramp(kCount, static_cast<float>(1000 * i)))));
    outputs.push_back(make_buffer(kCount * 4));
    counts.push_back(make_buffer(hal::Bytes(4, std::byte{0})));
  }
  std::atomic<int> failures = 0;
  // The first program's temporary is written but not yet read when the other program runs.
  TL_ASSERT_OK(programs[0]->run(
      {{BufferBinding{inputs[0]}, BufferBinding{outputs[0]}, BufferBinding{counts[0]}}}, {}, {},
      [&, done = false]() mutable {
        if (!std::exchange(done, true) &&
            !programs[1]
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

// A run that fails halfway returns its temporaries.
TEST_F(DeviceProgramTest, FailedRunsGiveTheirTemporariesBack) {
  const auto program = make_program(add_one_plan());
  ASSERT_NE(program, nullptr);
  const BufferBinding good{make_buffer(kCount * 4)};
  const auto constant = make_buffer(kCount * 4, hal::BufferUsage::CopySource);
  EXPECT_FALSE(program->run({{good, BufferBinding{constant}}}).ok());
  EXPECT_EQ(device_->workspace_pool().statistics().bytes_in_use, 0U);
  TL_ASSERT_OK(program->run({{good, BufferBinding{make_buffer(kCount * 4)}}}));
  EXPECT_EQ(device_->workspace_pool().statistics().driver_allocations, 1U);
}

// The pool's texture is larger than the temporary, and full of NaN.
TEST_F(DeviceProgramTest, TemporariesInLargerTexturesFullOfNaN) {
  constexpr Extent2D kLarge{20, 9};
  const char* source = R"(
    __kernel void fill(__write_only image2d_t out) {
      write_imagef(out, (int2)(get_global_id(0), get_global_id(1)), (float4)(NAN));
    })";
  const auto fill = make_program(TestPlan{
      .arguments = {},
      .temporaries = {texture_tensor("T", kLarge)},
      .kernels = {{.codes = opencl_c(source),
                   .entry = {.name = "fill",
                             .params = {TextureParam{
                                 .name = "out", .access = Access::Write, .min_extent = kLarge}}}}},
      .steps = {AllocateStep{0}, launch(0, {kLarge.width, kLarge.height, 1}, {temporary(0)})}});
  const auto program = make_program(add_one_plan());
  ASSERT_NE(fill, nullptr);
  ASSERT_NE(program, nullptr);
  const auto x = make_buffer(hal::bytes_of(ramp(kCount)));
  const auto y = make_buffer(kCount * 4);
  TL_ASSERT_OK(fill->run({}));
  TL_ASSERT_OK(program->run({{BufferBinding{x}, BufferBinding{y}}}));
  EXPECT_EQ(values_of<float>(y), ramp(kCount, 1));
  // The pool has one texture, which still has NaN around the temporary.
  EXPECT_EQ(device_->workspace_pool().statistics().driver_allocations, 1U);
  const auto lease = device_->workspace_pool().acquire(
      device_->queue(), hal::TextureDesc{.extent = kLarge, .usage = hal::TextureUsage::All});
  ASSERT_TRUE(lease.ok());
  // Copies a row of 20 texels: the temporary's texels, then those beside it.
  const char* row_source = R"(
    __constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
    __kernel void row(__read_only image2d_t in, __global float* out) {
      out[get_global_id(0)] = read_imagef(in, s, (int2)(get_global_id(0), 0)).x;
    })";
  const auto row = make_program(
      TestPlan{.arguments = {texture_tensor("T", kLarge), buffer_tensor("Y", kLarge.width * 4)},
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

// Reads beside a temporary of exact extent are zero, although the pool has a larger texture.
TEST_F(DeviceProgramTest, ExactTemporariesHaveNothingBesideThem) {
  auto larger = device_->workspace_pool().acquire(
      device_->queue(),
      hal::TextureDesc{.extent = {kExtent.width + 1, kExtent.height},
                       .usage = hal::TextureUsage::Sampled | hal::TextureUsage::Storage});
  ASSERT_TRUE(larger.ok());
  larger->release();
  LaunchPlan plan = add_one_plan();
  plan.modules[1].codes = opencl_c(R"(
    __constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
    __kernel void add_one(__read_only image2d_t in, __global float* out) {
      int x = get_global_id(0), y = get_global_id(1);
      vstore4(read_imagef(in, s, (int2)(x + get_image_width(in), y)) + 1.0f, y * 8 + x, out);
      if (x == 0 && y == 0) out[0] = get_image_width(in);
    })");
  std::get<TextureStorage>(plan.temporaries[0].storage).exact_extent = true;
  const auto program = make_program(plan);
  ASSERT_NE(program, nullptr);
  const auto x = make_buffer(hal::bytes_of(ramp(kCount)));
  const auto y = make_buffer(kCount * 4);
  TL_ASSERT_OK(program->run({{BufferBinding{x}, BufferBinding{y}}}));
  std::vector<float> values = values_of<float>(y);
  EXPECT_EQ(values[0], kExtent.width);
  EXPECT_EQ(std::count(values.begin() + 4, values.end(), 1.0F),
            static_cast<std::ptrdiff_t>(kCount - 4));
}

TEST_F(DeviceProgramTest, BufferTemporaries) {
  const LaunchPlan plan = TestPlan{
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
  const auto program = make_program(plan);
  ASSERT_NE(program, nullptr);
  const auto input = make_buffer(hal::bytes_of(ramp(16)));
  const auto output = make_buffer(64);
  TL_ASSERT_OK(program->run({{BufferBinding{input}, BufferBinding{output}}}));
  EXPECT_EQ(values_of<float>(output), ramp(16, 2));
}

// Kernels that state no size read and write temporaries of one arena; each gets only its own bytes.
TEST_F(DeviceProgramTest, BufferTemporariesLieInOneArena) {
  const std::uint64_t unit =
      std::max<std::uint64_t>(device_->info().limits.buffer_offset_alignment, 64);
  const auto count = static_cast<std::uint32_t>(unit / 4);
  const LaunchPlan plan = TestPlan{
      .arguments = {buffer_tensor("X", 2 * unit), buffer_tensor("Y", unit)},
      .temporaries = {buffer_tensor("A", 2 * unit), buffer_tensor("B", unit),
                      buffer_tensor("C", unit), buffer_tensor("D", unit)},
      .kernels =
          {{.codes = opencl_c("__kernel void next_of(__global const float* in, __global float* out)"
                              "{ out[get_global_id(0)] = in[get_global_id(0)] + 1.0f; }"),
            .entry = {.name = "next_of",
                      .params = {BufferParam{.name = "in"},
                                 BufferParam{.name = "out", .access = Access::Write}}}},
           {.codes = opencl_c("__kernel void sum(__global const float* a, __global const float* b,"
                              "__global float* out)"
                              "{ int i = get_global_id(0); out[i] = 100.0f * a[i] + b[i]; }"),
            .entry = {.name = "sum",
                      .params = {BufferParam{.name = "a"}, BufferParam{.name = "b"},
                                 BufferParam{.name = "out", .access = Access::Write}}}}},
      .steps = {AllocateStep{0}, launch(0, {2 * count, 1, 1}, {argument(0), temporary(0)}),
                AllocateStep{1}, launch(0, {count, 1, 1}, {temporary(0), temporary(1)}),
                FreeStep{0}, AllocateStep{2},
                launch(0, {count, 1, 1}, {temporary(1), temporary(2)}), AllocateStep{3},
                launch(0, {count, 1, 1}, {temporary(2), temporary(3)}),
                launch(1, {count, 1, 1}, {temporary(1), temporary(3), argument(1)})}};
  const auto program = make_program(plan);
  ASSERT_NE(program, nullptr);
  const auto x = make_buffer(hal::bytes_of(ramp(2 * count)));
  const auto y = make_buffer(unit);
  for (int run = 0; run < 2; ++run)
    TL_ASSERT_OK(program->run({{BufferBinding{x}, BufferBinding{y}}}));
  std::vector<float> expected = ramp(count);
  for (float& value : expected) value = 100 * (value + 2) + (value + 4);
  EXPECT_EQ(values_of<float>(y), expected);
  const hal::WorkspaceStatistics statistics = device_->workspace_pool().statistics();
  EXPECT_EQ(statistics.driver_allocations, 1U);
  EXPECT_EQ(statistics.max_bytes_held, 3 * unit);
}

// If kernels get the origins of textures, two textures lie side by side in the place that a third
// texture uses at another time.
TEST_F(DeviceProgramTest, TextureTemporariesLieSideBySide) {
  const char* source = R"(
    __constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
    __kernel void put(float value, __write_only image2d_t out, int x, int y) {
      write_imagef(out, (int2)(x + get_global_id(0), y + get_global_id(1)), (float4)(value));
    }
    __kernel void add(__read_only image2d_t a, int ax, int ay, __read_only image2d_t b, int bx,
                      int by, __global float* out) {
      int x = get_global_id(0), y = get_global_id(1);
      out[y * 8 + x] = read_imagef(a, s, (int2)(ax + x, ay + y)).x -
                       read_imagef(b, s, (int2)(bx + x, by + y)).x;
    })";
  constexpr Extent2D kSmall{8, 4}, kLarge{16, 4};
  const auto texture = [](const char* name, Access access, Extent2D extent) {
    return TextureParam{
        .name = name, .access = access, .min_extent = extent, .origin = TextureOrigin::Constants};
  };
  const auto put = [&](Extent2D extent) {
    return TestKernel{.codes = opencl_c(source),
                      .entry = {.name = "put",
                                .params = {ConstantParam{"value", hal::ElementType::Float32},
                                           texture("out", Access::Write, extent),
                                           ConstantParam{"x"}, ConstantParam{"y"}}}};
  };
  const Operand a = temporary(0), b = temporary(1), both = temporary(2);
  const LaunchPlan plan = TestPlan{
      .scalars = {{"of a"}, {"of b"}},
      .arguments = {buffer_tensor("Y", 8 * 4 * 4)},
      .temporaries = {texture_tensor("A", kSmall), texture_tensor("B", kSmall),
                      texture_tensor("both", kLarge)},
      .kernels = {put(kSmall),
                  put(kLarge),
                  {.codes = opencl_c(source),
                   .entry = {.name = "add",
                             .params = {texture("a", Access::Read, kSmall), ConstantParam{"ax"},
                                        ConstantParam{"ay"}, texture("b", Access::Read, kSmall),
                                        ConstantParam{"bx"}, ConstantParam{"by"},
                                        BufferParam{.name = "out",
                                                    .access = Access::Write,
                                                    .min_bytes = 8 * 4 * 4}}}}},
      .steps = {AllocateStep{2},
                launch(1, {16, 4, 1}, {ScalarValue{0}, both, origin_x(both), origin_y(both)}),
                FreeStep{2}, AllocateStep{0}, AllocateStep{1},
                launch(0, {8, 4, 1}, {ScalarValue{0}, a, origin_x(a), origin_y(a)}),
                launch(0, {8, 4, 1}, {ScalarValue{1}, b, origin_x(b), origin_y(b)}),
                launch(2, {8, 4, 1},
                       {a, origin_x(a), origin_y(a), b, origin_x(b), origin_y(b), argument(0)})}};
  const auto program = make_program(plan);
  ASSERT_NE(program, nullptr);
  const auto y = make_buffer(8 * 4 * 4);
  const std::vector<hal::Constant> scalars = {hal::Constant(7.0F), hal::Constant(3.0F)};
  TL_ASSERT_OK(program->run({{BufferBinding{y}}}, {.symbols = {}, .scalars = scalars}));
  EXPECT_EQ(values_of<float>(y), std::vector<float>(8 * 4, 4.0F));
  EXPECT_EQ(device_->workspace_pool().statistics().max_bytes_held, 16 * 4 * 16U);
}

}  // namespace
}  // namespace texloom::runtime
