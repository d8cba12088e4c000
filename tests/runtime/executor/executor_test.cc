// Tests graphs with named inputs and outputs, and the choice of variants of packages.
#include "runtime/executor/executor.h"

#include <algorithm>
#include <thread>

#include "runtime/drivers/null/driver.h"
#include "runtime/executor/load_graph.h"
#include "runtime/package/package_file.h"
#include "runtime/package/package_writer.h"
#include "tests/runtime/executor/scale_package.h"

namespace texloom::runtime {
namespace {

template <typename T>
std::span<const std::byte> bytes(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

class ExecutorTest : public DeviceProgramTest {
 protected:
  std::unique_ptr<Executor> make_executor(LaunchPlan plan, GraphInterface interface) {
    const auto program = make_program(std::move(plan));
    if (program == nullptr) return nullptr;
    auto made = Executor::create(program, std::move(interface));
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return made.ok() ? *std::move(made) : nullptr;
  }
  std::vector<float> output_of(Executor& executor, std::uint32_t output = 0) {
    const auto size = executor.output_bytes(output);
    if (!size.ok()) return {};
    std::vector<float> values(*size / 4);
    TL_EXPECT_OK(executor.get_output(output, std::as_writable_bytes(std::span(values))));
    return values;
  }
};

const GraphInterface kInToOut{.inputs = {{"in", 0}}, .outputs = {{"out", 1}}};

TEST_F(ExecutorTest, RunsAPackage) {
  const Package package = scale_package();
  const auto content = package_bytes({&package, 1});
  TL_ASSERT_OK(content.status());
  const auto file = PackageFile::open(*content);
  TL_ASSERT_OK(file.status());
  const auto graph = load_graph(device_, *file);
  TL_ASSERT_OK(graph.status());
  EXPECT_EQ(graph->variant, 0U);
  EXPECT_EQ(load_graph(device_, *file, {}, "other").status().message(),
            "no package \"other\" in the file; there are: scale");
  const auto executor = Executor::create(graph->program, graph->interface);
  TL_ASSERT_OK(executor.status());
  EXPECT_THAT((*executor)->run(), refused("input \"in\" was not set"));
  for (const float start : {1.0F, 5.0F, 9.0F}) {
    const auto in = (*executor)->find_input("in");
    TL_ASSERT_OK(in.status());
    TL_ASSERT_OK((*executor)->set_input(*in, bytes(ramp(kCount, start))));
    TL_ASSERT_OK((*executor)->run());
    std::vector<float> expected = ramp(kCount, start);
    for (float& value : expected) value *= 3;
    EXPECT_EQ(output_of(**executor), expected);
  }
  // No kernel reads this input, so any size is accepted.
  TL_EXPECT_OK((*executor)->set_input(*(*executor)->find_input("unused"), {}));
  EXPECT_THAT((*executor)->find_input("im").status(),
              fails_with(StatusCode::NotFound, "no input \"im\"; there are: in, unused"));
  EXPECT_THAT((*executor)->find_output("in").status(),
              fails_with(StatusCode::NotFound, "no output \"in\"; there are: out"));
  EXPECT_THAT((*executor)->set_input(0, bytes(ramp(3))),
              refused("input \"in\": an array of tensor \"X\" has 768 bytes, got 12"));
  EXPECT_THAT((*executor)->set_input(2, {}), refused("input 2 is out of range: there are 2"));
}

// With inputs in buffers or textures, and with temporaries, only the first run allocates memory.
TEST_F(ExecutorTest, SecondRunsAllocateNothing) {
  LaunchPlan plan = add_one_plan();
  plan.arguments = {texture_tensor("X", kExtent), buffer_tensor("Y", kCount * 4)};
  plan.temporaries = {};
  plan.steps = {launch(1, {1, 6, 1}, {argument(0), argument(1)})};
  for (LaunchPlan each : {plan, add_one_plan()}) {
    const auto executor = make_executor(std::move(each), kInToOut);
    ASSERT_NE(executor, nullptr);
    std::uint64_t allocations = 0;
    hal::MemoryStatistics memory;
    for (int run = 0; run < 4; ++run) {
      TL_ASSERT_OK(executor->set_input(0, bytes(ramp(kCount, static_cast<float>(run)))));
      TL_ASSERT_OK(executor->run());
      EXPECT_EQ(output_of(*executor), ramp(kCount, static_cast<float>(run) + 1));
      const auto allocated = device_->workspace_pool().statistics().driver_allocations;
      const hal::MemoryStatistics now = device_->allocator()->statistics();
      if (run != 0) {
        EXPECT_EQ(allocated, allocations);
        for (const hal::MemoryKind kind : hal::kAllMemoryKinds)
          EXPECT_EQ(now.of(kind), memory.of(kind));
      }
      allocations = allocated;
      memory = now;
    }
  }
}

// Binds a part of the caller's buffer, and a rectangle of the caller's larger image.
TEST_F(ExecutorTest, BindsMemoryOfTheCaller) {
  const char* source = R"(
    __constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
    __kernel void add_one(__read_only image2d_t in, int x, int y, __global float* out) {
      int i = get_global_id(0), j = get_global_id(1);
      vstore4(read_imagef(in, s, (int2)(x + i, y + j)) + 1.0f, j * 8 + i, out);
    })";
  LaunchPlan plan = TestPlan{
      .arguments = {texture_tensor("X", kExtent), buffer_tensor("Y", kCount * 4)},
      .temporaries = {},
      .kernels = {{.codes = opencl_c(source),
                   .entry = {.name = "add_one",
                             .params = {TextureParam{.name = "in",
                                                     .min_extent = kExtent,
                                                     .origin = TextureOrigin::Constants},
                                        ConstantParam{"x"}, ConstantParam{"y"},
                                        BufferParam{.name = "out",
                                                    .access = Access::Write,
                                                    .min_bytes = kCount * 4}}}}},
      .steps = {launch(0, {8, 6, 1},
                       {argument(0), origin_x(argument(0)), origin_y(argument(0)), argument(1)})}};
  const auto executor = make_executor(plan, kInToOut);
  ASSERT_NE(executor, nullptr);
  const auto image = make_texture_full_of(std::byte{0xff}, {20, 20}, TexelFormat::Rgba32Float);
  const std::uint64_t offset = device_->info().limits.buffer_offset_alignment;
  const auto buffer = make_buffer(offset + kCount * 4);
  TL_ASSERT_OK(executor->bind_output(0, BufferBinding{buffer, offset}));
  for (const hal::Offset2D origin : {hal::Offset2D{0, 0}, hal::Offset2D{12, 3}}) {
    for (int run = 0; run < 3; ++run) {
      TL_ASSERT_OK(hal::write_texture(*device_, image, {origin, kExtent},
                                      hal::bytes_of(ramp(kCount, static_cast<float>(run)))));
      TL_ASSERT_OK(executor->bind_input(0, TextureBinding{image, origin}));
      TL_ASSERT_OK(executor->run());
      const std::vector<float> all = values_of<float>(buffer);
      EXPECT_TRUE(std::equal(all.begin() + static_cast<std::ptrdiff_t>(offset / 4), all.end(),
                             ramp(kCount, static_cast<float>(run) + 1).begin()));
      EXPECT_EQ(output_of(*executor), ramp(kCount, static_cast<float>(run) + 1));
    }
  }
  TL_ASSERT_OK(executor->bind_input(0, TextureBinding{image, {13, 15}}));
  EXPECT_THAT(executor->run(), refused("argument 0 \"X\": expected a texture"));
}

TEST_F(ExecutorTest, MemoryOfTheWrongKindIsRefusedWithAdvice) {
  LaunchPlan plan = add_one_plan();
  plan.arguments = {texture_tensor("X", kExtent), buffer_tensor("Y", kCount * 4)};
  plan.temporaries = {};
  plan.steps = {launch(1, {1, 6, 1}, {argument(0), argument(1)})};
  const auto executor = make_executor(plan, kInToOut);
  ASSERT_NE(executor, nullptr);
  TL_ASSERT_OK(executor->bind_input(0, BufferBinding{make_buffer(kCount * 4)}));
  EXPECT_THAT(executor->run(), refused("got a buffer; help: bind a texture, or bind nothing: "
                                       "set_input() and get_output() copy"));
  TL_ASSERT_OK(executor->set_input(0, bytes(ramp(kCount))));
  TL_ASSERT_OK(executor->run());
  EXPECT_EQ(output_of(*executor), ramp(kCount, 1));
}

TEST_F(ExecutorTest, OperatorsMustBeProvided) {
  Package package = scale_package();
  LaunchPlan& plan = package.variants[0].plan;
  plan.calls = {{.op = "mine::next", .accesses = {Access::Read, Access::Write}}};
  plan.steps = {CallStep{
      0, {TensorRef{TensorRef::Kind::Argument, 0}, TensorRef{TensorRef::Kind::Argument, 1}}}};
  EXPECT_THAT(load_graph(device_, package, {}).status(),
              fails_with(StatusCode::Unimplemented,
                         "operator \"mine::next\" is not provided; help: give load_graph() "
                         "GraphOptions::prepare_calls; the C API cannot provide operators"));
}

TEST_F(ExecutorTest, RefusesOutputsOverInputs) {
  const auto executor = make_executor(add_one_plan(), kInToOut);
  ASSERT_NE(executor, nullptr);
  const BufferBinding both{make_buffer(kCount * 4)}, other{make_buffer(kCount * 4)};
  TL_ASSERT_OK(executor->bind_input(0, both));
  TL_ASSERT_OK(executor->bind_output(0, both));
  for (int run = 0; run < 2; ++run)
    EXPECT_THAT(executor->run(), refused("input \"in\" and output \"out\" share memory, which the "
                                         "graph writes: bind each to memory of its own"));
  TL_ASSERT_OK(executor->bind_output(0, other));
  TL_EXPECT_OK(executor->run());
}

// Y[i] = X[i] + 1 for all n elements.
LaunchPlan next_plan() {
  const auto tensor = [](const char* name) {
    return TensorSpec{.name = name, .shape = {Size::symbol(0)}, .storage = BufferStorage{}};
  };
  return TestPlan{
      .symbols = {"n"},
      .arguments = {tensor("X"), tensor("Y")},
      .temporaries = {},
      .kernels = {{.codes = opencl_c("__kernel void next(__global const float* x,"
                                     "                   __global float* y) {"
                                     "  y[get_global_id(0)] = x[get_global_id(0)] + 1; }"),
                   .entry = {.name = "next",
                             .params = {BufferParam{.name = "x"},
                                        BufferParam{.name = "y", .access = Access::Write}}}}},
      .steps = {launch(0, {Size::symbol(0), 1, 1}, {argument(0), argument(1)})}};
}

// The input's shape determines the output's shape.
TEST_F(ExecutorTest, SizesThatDependOnTheCall) {
  const auto executor = make_executor(next_plan(), kInToOut);
  ASSERT_NE(executor, nullptr);
  EXPECT_THAT(executor->set_input(0, bytes(ramp(5))),
              refused("the shape of input \"in\" depends on the call: call set_shape() first"));
  EXPECT_FALSE(executor->output_bytes(0).ok());
  for (const std::int64_t n : {5, 9, 3, 9, 5}) {
    TL_ASSERT_OK(executor->set_shape(0, std::vector{n}));
    TL_ASSERT_OK(executor->set_input(0, bytes(ramp(static_cast<std::size_t>(n)))));
    TL_ASSERT_OK(executor->run());
    EXPECT_EQ(*executor->output_shape(0), Shape{n});
    EXPECT_EQ(output_of(*executor), ramp(static_cast<std::size_t>(n), 1));
  }
  TL_ASSERT_OK(executor->set_shape(0, std::vector<std::int64_t>{4}));
  EXPECT_THAT(executor->run(), refused("input \"in\" was not set"));
  EXPECT_THAT(executor->set_shape(0, std::vector<std::int64_t>{4, 4}),
              refused("input \"in\" has the shape (n), got (4, 4)"));
  EXPECT_THAT(executor->set_shape(0, std::vector<std::int64_t>{0}),
              refused("input \"in\" of the shape (0) has no elements; help: "));
  // Fixed extents of a shape with open ones are checked.
  LaunchPlan plan = next_plan();
  plan.arguments[0].shape.push_back(Size(4));
  const auto rows = make_executor(plan, kInToOut);
  ASSERT_NE(rows, nullptr);
  TL_EXPECT_OK(rows->set_shape(0, std::vector<std::int64_t>{2, 4}));
  EXPECT_THAT(rows->set_shape(0, std::vector<std::int64_t>{2, 5}),
              refused("input \"in\" has the shape (n, 4), got (2, 5)"));
}

// The latest run's outputs stay until the next run, also after new shapes or memory.
TEST_F(ExecutorTest, OutputsAreThoseOfTheLatestRun) {
  const auto executor = make_executor(next_plan(), kInToOut);
  ASSERT_NE(executor, nullptr);
  const BufferBinding first{make_buffer(20)}, second{make_buffer(4)};
  TL_ASSERT_OK(executor->bind_output(0, first));
  EXPECT_THAT(executor->output(0).status(), refused("output \"out\" has no memory before a run"));
  TL_ASSERT_OK(executor->set_shape(0, std::vector<std::int64_t>{5}));
  TL_ASSERT_OK(executor->set_input(0, bytes(ramp(5))));
  TL_ASSERT_OK(executor->run());
  const auto expect_first = [&] {
    EXPECT_EQ(*executor->output_shape(0), Shape{5});
    EXPECT_EQ(output_of(*executor), ramp(5, 1));
    const auto memory = executor->output(0);
    TL_ASSERT_OK(memory.status());
    EXPECT_EQ(std::get<BufferBinding>(*memory).buffer, first.buffer);
  };
  expect_first();
  TL_ASSERT_OK(executor->bind_output(0, second));
  expect_first();
  TL_ASSERT_OK(executor->set_shape(0, std::vector<std::int64_t>{7}));
  TL_ASSERT_OK(executor->set_input(0, bytes(ramp(7, 3))));
  expect_first();
  EXPECT_THAT(executor->run(), refused("argument 1 \"Y\": expected"));
  EXPECT_THAT(executor->output_bytes(0).status(), refused("is not known after a run that failed"));
  std::vector<float> none(7);
  EXPECT_THAT(executor->get_output(0, std::as_writable_bytes(std::span(none))),
              refused("output \"out\" has no values, since the latest run failed; help: "));
  // The failed run has already used the new size; a run of that size succeeds with enough memory.
  const BufferBinding third{make_buffer(28)};
  TL_ASSERT_OK(executor->bind_output(0, third));
  TL_ASSERT_OK(executor->run());
  EXPECT_EQ(*executor->output_shape(0), Shape{7});
  EXPECT_EQ(output_of(*executor), ramp(7, 4));
  // A refused run leaves no outputs; the same run without a change of memory has them again.
  TL_ASSERT_OK(executor->set_shape(0, std::vector<std::int64_t>{6}));
  EXPECT_THAT(executor->run(), refused("input \"in\" was not set"));
  EXPECT_THAT(executor->output(0).status(), refused("the latest run failed"));
  TL_ASSERT_OK(executor->set_input(0, bytes(ramp(6))));
  TL_ASSERT_OK(executor->run());
  EXPECT_EQ(*executor->output_shape(0), Shape{6});
}

TEST_F(ExecutorTest, ScalarsMustBeSet) {
  const auto executor = make_executor(add_number_plan(), kInToOut);
  ASSERT_NE(executor, nullptr);
  EXPECT_THAT(executor->find_scalar("m").status(),
              fails_with(StatusCode::NotFound, "no scalar \"m\"; there are: n"));
  const auto n = executor->find_scalar("n");
  TL_ASSERT_OK(n.status());
  TL_ASSERT_OK(executor->set_input(0, bytes(ramp(kCount))));
  EXPECT_THAT(executor->run(), refused("scalar \"n\" was not set"));
  EXPECT_THAT(executor->set_scalar(*n, hal::Constant(1.0F)),
              refused("scalar \"n\" is int32, got float32"));
  EXPECT_THAT(executor->set_scalar(1, hal::Constant(1)),
              refused("scalar 1 is out of range: there are 1"));
  for (const int number : {4, 9}) {
    TL_ASSERT_OK(executor->set_scalar(*n, hal::Constant(number)));
    TL_ASSERT_OK(executor->run());
    EXPECT_EQ(output_of(*executor), ramp(kCount, static_cast<float>(number)));
  }
}

// Each thread has its own executor; all share a program, and half of them share a queue.
TEST_F(ExecutorTest, ThreadsShareAProgram) {
  const auto program = make_program(add_one_plan());
  ASSERT_NE(program, nullptr);
  constexpr int kThreads = 4;
  std::vector<std::unique_ptr<Executor>> executors;
  for (int t = 0; t < kThreads; ++t) {
    std::shared_ptr<hal::Queue> queue;
    if (t % 2 == 1) queue = *device_->create_queue();
    executors.push_back(*Executor::create(program, kInToOut, queue));
  }
  std::vector<int> failures(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 20; ++round) {
        const auto start = static_cast<float>(1000 * t + round);
        std::vector<float> out(kCount);
        Executor& executor = *executors[t];
        const bool ok = executor.set_input(0, bytes(ramp(kCount, start))).ok() &&
                        executor.submit().ok() &&
                        executor.get_output(0, std::as_writable_bytes(std::span(out))).ok();
        if (!ok || out != ramp(kCount, start + 1)) ++failures[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, std::vector<int>(kThreads));
}

// The null driver counts the commands it gets: one dispatch per run, and the plan's barriers.
TEST(ExecutorOnNull, RunsAreSubmittedAsRecorded) {
  const auto device = *hal::null::create_driver()->open(0);
  LaunchPlan plan = add_one_plan();
  const auto program = DeviceProgram::create(device, plan, {.checks_barriers = true});
  TL_ASSERT_OK(program.status());
  const auto executor = Executor::create(*program, kInToOut);
  TL_ASSERT_OK(executor.status());
  TL_ASSERT_OK((*executor)->set_input(0, bytes(ramp(kCount))));
  TL_ASSERT_OK(device->queue()->wait_idle());
  hal::null::Statistics before = hal::null::statistics(*device);
  for (int run = 0; run < 3; ++run) {
    TL_ASSERT_OK((*executor)->run());
    const hal::null::Statistics now = hal::null::statistics(*device);
    EXPECT_EQ(now.dispatches - before.dispatches, 2U);
    EXPECT_EQ(now.recorded_barriers - before.recorded_barriers, 1U);
    EXPECT_EQ(now.ranges - before.ranges, 1U);
    before = now;
  }
}

TEST(Variants, TheFirstThatTheDeviceCanRunIsChosen) {
  hal::DeviceInfo device = hal::null::default_device();
  device.name = "tiny";
  device.features.float64 = false;
  device.limits.max_image_width = 100;
  device.limits.max_image_height = 50;
  Package package;
  package.name = "net";
  package.variants = {
      variant_for("first", {{need::kFloat64, 1}, {need::kMaxImageWidth, 101}}),
      variant_for("second",
                  {{need::kImages, 1}, {need::kMaxImageWidth, 100}, {need::kMaxImageHeight, 50}}),
      variant_for("third")};
  EXPECT_EQ(*choose_variant(package, device), 1U);
  package.variants[1].needs.require(need::kMaxImageHeight, 51);
  EXPECT_EQ(*choose_variant(package, device), 2U);
  package.variants.pop_back();
  const Status none = choose_variant(package, device).status();
  EXPECT_EQ(none.code(), StatusCode::Unimplemented);
  EXPECT_EQ(
      none.message(),
      "package \"net\" has no variant that tiny can run:\n"
      "  the variant for \"first\" needs images of up to 101 x 0 texels (it allows 100 x 50), "
      "float64\n"
      "  the variant for \"second\" needs images of up to 100 x 51 texels (it allows 100 x "
      "50); help: compile it for this device, too (target=\"null:0\", or the device's number), "
      "or choose another device");
}

// A variant is skipped if the driver accepts none of the formats of a kernel.
TEST(Variants, HaveKernelsThatTheDriverPrepares) {
  hal::DeviceInfo device = hal::null::default_device();
  device.name = "vulkan";
  device.formats = {KernelFormat::Spirv};
  device.extensions = {"subgroups"};
  const auto in_format = [](const char* target, std::vector<hal::KernelCode> codes,
                            const VariantNeeds& needs = {}) {
    PackageVariant variant = variant_for(target, needs);
    variant.plan.modules = {{.codes = std::move(codes)}};
    return variant;
  };
  Package package;
  package.name = "net";
  package.variants = {
      in_format("metal", {{.format = KernelFormat::Msl}, {.format = KernelFormat::Ir}},
                {{"float16_storage", 1}}),
      in_format("wide", {{.format = KernelFormat::Spirv}}, {{"float16_storage", 1}}),
      in_format("spirv", {{.format = KernelFormat::Spirv}}, {{"subgroups", 1}})};
  EXPECT_EQ(*choose_variant(package, device), 2U);
  EXPECT_TRUE(shadowed_variants(package).empty());
  package.variants.pop_back();
  EXPECT_EQ(choose_variant(package, device).status().message(),
            "package \"net\" has no variant that vulkan can run:\n"
            "  the variant for \"metal\" needs a driver of MSL, IR (it takes SPIR-V)\n"
            "  the variant for \"wide\" needs float16_storage; "
            "help: compile it for this device, too (target=\"null:0\", or the device's number), "
            "or choose another device");
}

// A variant is never chosen if an earlier one needs the same or less.
TEST(Variants, AreShadowed) {
  const auto in_formats = [](const char* target, std::vector<hal::KernelCode> codes,
                             const VariantNeeds& needs) {
    PackageVariant variant = variant_for(target, needs);
    variant.plan.modules = {{.codes = std::move(codes)}};
    return variant;
  };
  const hal::KernelCode source{.format = KernelFormat::OpenClC}, text{.format = KernelFormat::Ir};
  Package package;
  package.variants = {in_formats("first", {source}, {{need::kImages, 1}}),
                      in_formats("larger", {source}, {{need::kImages, 1}, {need::kFloat64, 1}}),
                      in_formats("also text", {source, text}, {{need::kImages, 1}}),
                      in_formats("less", {source}, {})};
  EXPECT_EQ(shadowed_variants(package),
            std::vector<std::string>{
                "no device gets the variant for \"larger\": those that could run it get the one "
                "for \"first\", which comes first and needs no more"});
}

}  // namespace
}  // namespace texloom::runtime
