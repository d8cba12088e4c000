// Tests operators that are given as the body of a kernel, on an OpenCL device.
#include "runtime/custom/source_kernel.h"

#include <bit>

#include "tests/runtime/custom/custom_fixture.h"

namespace texloom::runtime {
namespace {

constexpr const char* kTextureBody = R"(
int c = tl_global_id(0), r = tl_global_id(1);
tl_texel(x) v = tl_load(x, c, r);
tl_store(y, c, r, (tl_texel(y))(fabs(v.x) > l ? v.x - copysign(l, v.x) : 0,
                                fabs(v.y) > l ? v.y - copysign(l, v.y) : 0,
                                fabs(v.z) > l ? v.z - copysign(l, v.z) : 0,
                                fabs(v.w) > l ? v.w - copysign(l, v.w) : 0));)";

SourceKernel softshrink() {
  return {.info = {.name = "test::softshrink",
                   .arguments = {{.name = "x", .storage = ArgumentStorage::Texture},
                                 {.name = "y",
                                  .access = Access::Write,
                                  .storage = ArgumentStorage::Texture}},
                   .attributes = {{"l", AttributeType::Float, 0.5}}},
          .body = kTextureBody,
          .workgroup = {2, 2, 1},
          .threads = {"x.width", "x.height", "1"}};
}

// Multiples of 0.5 from -6 to 5.5, so that all differences in these tests are exact.
std::vector<float> inputs() { return numbers(-6, 0.5F); }
std::vector<float> shrunk(float l) {
  std::vector<float> values = inputs();
  for (float& each : values) each = each > l ? each - l : each < -l ? each + l : 0;
  return values;
}

class SourceKernels : public CustomOperators {
 protected:
  void SetUp() override {
    open("opencl");
    if (IsSkipped()) return;
    plan_.arguments = {texture_of_elements("X"), texture_of_elements("Y")};
  }
  std::shared_ptr<const CustomOperator> make(SourceKernel kernel) {
    const auto op = make_source_operator(std::move(kernel));
    EXPECT_TRUE(op.ok()) << op.status().to_string();
    return op.ok() ? *op : nullptr;
  }
};

// 3 x 2 texels are not a multiple of a work group of 2 x 2 threads.
TEST_F(SourceKernels, OverTextures) {
  const auto op = make(softshrink());
  call(op, {0, 1});
  TL_EXPECT_OK(run_plan({inputs(), numbers(99)}));
  EXPECT_EQ(result(1), shrunk(0.5F));
  plan_.calls[0].attributes = {{"l", 2.0}};
  TL_EXPECT_OK(run_plan({inputs(), numbers(99)}, {.check_writes = true}));
  EXPECT_EQ(result(1), shrunk(2.0F));
}

// Each tensor is inside a larger image, at an origin; the texels around Y keep their values.
TEST_F(SourceKernels, AtOrigins) {
  call(make(softshrink()), {0, 1});
  TL_ASSERT_OK(prepare({.check_writes = true}));
  table_.clear();
  for (const hal::Offset2D origin : {hal::Offset2D{2, 1}, hal::Offset2D{3, 4}})
    table_.emplace_back(hal::TextureBinding{
        make_texture_full_of(std::byte{0xff}, {8, 8}, hal::TexelFormat::Rgba32Float), origin});
  TL_ASSERT_OK(write_tensor(*device_, plan_.arguments[0], table_[0], hal::bytes_of(inputs())));
  const std::vector<hal::BindingRef> slots = {hal::BindingSlot{0}, hal::BindingSlot{1}};
  const std::vector<hal::Offset2D> origins = {{2, 1}, {3, 4}};
  const auto commands = device_->create_command_buffer();
  TL_ASSERT_OK(texloom::runtime::record(
      plan_, {.kernels = {}, .arguments = slots, .slot_origins = origins, .calls = calls_.get()},
      *commands));
  TL_ASSERT_OK(commands->finish());
  TL_ASSERT_OK(device_->queue()->run({{}, {{commands, table_}}, {}}));
  EXPECT_EQ(result(1), shrunk(0.5F));
}

// Buffers of float16 are converted by loads and stores; one argument is read and written.
TEST_F(SourceKernels, OverBuffersWithInOutArguments) {
  TensorSpec half = buffer_tensor("X", kElements * 2);
  half.element = hal::ElementType::Float16;
  half.shape = {static_cast<std::int64_t>(kElements)};
  half.layout = row_major({static_cast<std::int64_t>(kElements)});
  plan_.arguments = {half, buffer_of_elements("Y")};
  call(make({.info = {.name = "test::accumulate",
                      .arguments = {{.name = "x", .storage = ArgumentStorage::Buffer},
                                    {.name = "y",
                                     .access = Access::ReadWrite,
                                     .storage = ArgumentStorage::Buffer}},
                      .attributes = {{"n", AttributeType::Integer, {}}}},
             .body = "int i = tl_global_id(0);\n"
                     "tl_put(y, i, tl_get(y, i) + n * tl_get(x, i) + tl_extent(x, 0));",
             .workgroup = {5, 1, 1},
             .threads = {"x.d0", "1", "1"}}),
       {0, 1}, {{"n", std::int64_t{3}}});
  TL_ASSERT_OK(prepare());
  const auto commands = *recorded();
  table_.clear();
  for (const TensorSpec& spec : plan_.arguments) table_.push_back(*allocate(*device_, spec));
  const std::vector<std::uint16_t> halves(kElements, 0x3e00);  // 1.5
  TL_ASSERT_OK(write_tensor(*device_, half, table_[0], hal::bytes_of(halves)));
  TL_ASSERT_OK(write_tensor(*device_, plan_.arguments[1], table_[1], hal::bytes_of(numbers(0))));
  for (int i = 0; i < 2; ++i) TL_EXPECT_OK(device_->queue()->run({{}, {{commands, table_}}, {}}));
  EXPECT_EQ(result(1), numbers(2 * (3 * 1.5F + kElements)));
}

// A host operator between two source kernels sees the first one's result.
TEST_F(SourceKernels, AroundAHostOperator) {
  plan_.arguments.push_back(texture_of_elements("Z"));
  const auto shrink = make(softshrink());
  call(shrink, {0, 1});
  call(std::make_shared<HostFunction>(
           OperatorInfo{.name = "test::negate",
                        .arguments = {{.name = "x", .access = Access::ReadWrite}}},
           [](const HostArguments& arguments) {
             for (float& each : floats(arguments.tensors[0])) each = -each;
             return Status();
           }),
       {1});
  call(shrink, {1, 2}, {{"l", 0.0}});
  TL_EXPECT_OK(run_plan({inputs(), numbers(0), numbers(0)}));
  std::vector<float> expected = shrunk(0.5F);
  for (float& each : expected) each = each == 0 ? 0 : -each;
  EXPECT_EQ(result(2), expected);
}

// Two dependent calls need a barrier, like launches: a checked command buffer refuses its absence.
TEST_F(SourceKernels, BetweenBarriersOfThePlan) {
  plan_.arguments.push_back(texture_of_elements("Z"));
  const auto shrink = make(softshrink());
  call(shrink, {0, 1});
  call(shrink, {1, 2});
  TL_ASSERT_OK(prepare());
  const auto checked = [&] {
    const std::vector<hal::BindingRef> slots = {hal::BindingSlot{0}, hal::BindingSlot{1},
                                                hal::BindingSlot{2}};
    const auto commands = device_->create_command_buffer({.barriers = hal::Barriers::Checked});
    TL_EXPECT_OK(texloom::runtime::record(
        plan_, {.kernels = {}, .arguments = slots, .calls = calls_.get()}, *commands));
    return commands->finish();
  };
  EXPECT_THAT(checked(), fails_with(StatusCode::InvalidArgument, "finish"));
  plan_.steps.insert(plan_.steps.begin() + 1, BarrierStep{});
  TL_EXPECT_OK(checked());
}

TEST_F(SourceKernels, ShapesForGraphs) {
  SourceKernel kernel = softshrink();
  kernel.info.arguments.insert(kernel.info.arguments.begin(),
                               {.name = "w", .storage = ArgumentStorage::Buffer});
  const TensorType w{hal::ElementType::Int32, {5}}, x{hal::ElementType::Float32, {2, 3, 4}};
  const auto first = make(kernel)->shapes(std::vector{w, x}, {});
  EXPECT_EQ(*first, std::vector{w});
  kernel.like = {{"y", "x"}};
  EXPECT_EQ(*make(kernel)->shapes(std::vector{w, x}, {}), std::vector{x});
  EXPECT_THAT(make(kernel)->shapes(std::vector{w}, {}).status(),
              fails_with(StatusCode::InvalidArgument, "reads 2 tensors, got 1"));
}

// The compiler's message names the line within the body.
TEST_F(SourceKernels, BodiesThatDoNotCompile) {
  SourceKernel kernel = softshrink();
  kernel.body = "int fine = 1;\nint wrong = unknown_word;";
  call(make(kernel), {0, 1});
  const Status status = prepare();
  EXPECT_THAT(status, fails_with(StatusCode::BuildFailed, "operator \"test::softshrink\""));
  EXPECT_THAT(status, fails_with(StatusCode::BuildFailed, "unknown_word"));
  EXPECT_THAT(status, fails_with(StatusCode::BuildFailed, "test_softshrink:2:"));
  EXPECT_THAT(status, fails_with(StatusCode::BuildFailed,
                                 "; help: correct the body: \"test_softshrink:N\" in the log"));
}

// The driver `host` has no compiler for kernels.
TEST_F(SourceKernels, OnADeviceWithoutTheLanguage) {
  open("host");
  call(make(softshrink()), {0, 1});
  EXPECT_THAT(prepare(), fails_with(StatusCode::Unimplemented, "OpenCL C"));
  EXPECT_THAT(prepare(), fails_with(StatusCode::Unimplemented,
                                    "help: load the program on a device of \"opencl\", or register "
                                    "a host operator"));
}

// No tensor is empty, so a kernel without threads must be a mistake.
TEST_F(SourceKernels, WithoutThreads) {
  const auto prepared = [&](const char* threads) {
    SourceKernel kernel = softshrink();
    kernel.threads[1] = threads;
    registry_ = {};
    plan_.calls.clear();
    plan_.steps.clear();
    call(make(kernel), {0, 1});
    return prepare();
  };
  TL_EXPECT_OK(prepared("x.height / 2"));
  const auto says = [](const char* part) { return fails_with(StatusCode::InvalidArgument, part); };
  EXPECT_THAT(prepared("x.height / 3"),
              says("operator \"test::softshrink\": threads[1] = \"x.height / 3\": is 0, so no "
                   "thread would run; help: use an expression of at least 1"));
  EXPECT_THAT(prepared("1 - x.height"), says("is -1, so no thread would run"));
  EXPECT_THAT(
      prepared("max(x.d5, 1)"),
      says("threads[1] = \"max(x.d5, 1)\": the shape of \"x\" has 3 extents, so it has no d5; "
           "help: use x.d0 to x.d2"));
  EXPECT_THAT(prepared("x.height * 3000000000"), says("is 6000000000, which 32 bits cannot hold"));
}

// A smaller output is refused, since the body would write past its end.
TEST_F(SourceKernels, OutputsOfOtherShapes) {
  TensorSpec smaller = buffer_tensor("Y", 4 * sizeof(float));
  smaller.shape = {4};
  smaller.layout = row_major({4});
  plan_.arguments = {buffer_of_elements("X"), smaller};
  call(make({.info = {.name = "test::copied",
                      .arguments = {{.name = "x", .storage = ArgumentStorage::Buffer},
                                    {.name = "y",
                                     .access = Access::Write,
                                     .storage = ArgumentStorage::Buffer}}},
             .body = "int i = tl_global_id(0); tl_put(y, i, tl_get(x, i));",
             .threads = {"x.places", "1", "1"}}),
       {0, 1});
  EXPECT_THAT(prepare(), fails_with(StatusCode::InvalidArgument,
                                    "argument \"y\" has the shape (4), but the operator computes"));
}

// Arguments may have names that the generated helpers use, or that hide built-in functions.
TEST_F(SourceKernels, WithAnyNames) {
  call(make({.info = {.name = "test::names",
                      .arguments = {{.name = "v", .storage = ArgumentStorage::Texture},
                                    {.name = "col",
                                     .access = Access::Write,
                                     .storage = ArgumentStorage::Texture}},
                      .attributes = {{"step", AttributeType::Float, 2.0}}},
             .body = "int row = tl_global_id(1), i = tl_global_id(0);\n"
                     "tl_store(col, i, row, tl_load(v, i, row) * step);",
             .threads = {"v.width", "v.height", "1"}}),
       {0, 1});
  TL_ASSERT_OK(run_plan({numbers(1), numbers(0)}));
  EXPECT_EQ(result(1), numbers(2, 2));
}

TEST_F(SourceKernels, WithAnyNamesOfBuffers) {
  plan_.arguments = {buffer_of_elements("X"), buffer_of_elements("Y")};
  call(make({.info = {.name = "test::names",
                      .arguments = {{.name = "i", .storage = ArgumentStorage::Buffer},
                                    {.name = "v",
                                     .access = Access::Write,
                                     .storage = ArgumentStorage::Buffer}}},
             .body = "tl_put(v, tl_global_id(0), tl_get(i, tl_global_id(0)) * 2);",
             .threads = {"i.places", "1", "1"}}),
       {0, 1});
  TL_ASSERT_OK(run_plan({numbers(1), numbers(0)}));
  EXPECT_EQ(result(1), numbers(2, 2));
}

TEST(SourceKernelDeclarations, WhatIsWrongIsNamed) {
  const auto refused = [](const std::function<void(SourceKernel&)>& change) {
    SourceKernel kernel = softshrink();
    change(kernel);
    return make_source_operator(std::move(kernel)).status();
  };
  const auto says = [](const char* part) { return fails_with(StatusCode::InvalidArgument, part); };
  EXPECT_THAT(refused([](auto& k) { k.info.name = "x"; }), says("domain::name"));
  EXPECT_THAT(refused([](auto& k) { k.info.arguments[0].storage = ArgumentStorage::Any; }),
              says("argument \"x\": a source kernel needs its storage"));
  EXPECT_THAT(refused([](auto& k) { k.info.arguments[1].access = Access::ReadWrite; }),
              says("argument \"y\": a kernel cannot read and write one texture"));
  EXPECT_THAT(refused([](auto& k) { k.info.attributes[0] = {"l", AttributeType::Text, {}}; }),
              says("attribute \"l\": a kernel takes numbers"));
  EXPECT_THAT(refused([](auto& k) { k.info.device = OperatorDevice::Host; }),
              says("does not work on the host"));
  EXPECT_THAT(refused([](auto& k) { k.body = ""; }), says("the body is empty"));
  EXPECT_THAT(refused([](auto& k) { k.workgroup[1] = 0; }), says("at least 1 thread"));
  EXPECT_THAT(refused([](auto& k) { k.threads[1] = "x.wide"; }),
              says("threads[1]: \"x.wide\": unknown name"));
  EXPECT_THAT(refused([](auto& k) {
                k.info.arguments[0].storage = ArgumentStorage::Buffer;
                k.body = "tl_store(y, 0, 0, 1);";
              }),
              says("threads[0] = \"x.width\": \"x\" is a buffer: it has no width; help: use "
                   "x.places or x.d0"));
  EXPECT_THAT(refused([](auto& k) { k.threads[2] = "2 - 2"; }),
              says("threads[2] = \"2 - 2\": is 0, so no thread would run"));
  EXPECT_THAT(refused([](auto& k) { k.body = "tl_get(x, 0);"; }),
              says("line 1 of the body: tl_get(x): \"x\" is a texture"));
  EXPECT_THAT(refused([](auto& k) { k.info.attributes[0].name = "half"; }),
              says("\"half\" is a reserved word of kernel languages"));
  EXPECT_THAT(refused([](auto& k) { k.info.arguments[0].name = "image2d_t"; }),
              says("help: choose another name, such as \"image2d_t_value\""));
  EXPECT_THAT(refused([](auto& k) { k.info.attributes[0].name = "x_tl_x"; }),
              says("\"_tl_\" is reserved for names of kernels"));
  EXPECT_THAT(refused([](auto& k) { k.like = {{"x", "y"}}; }),
              says("like: \"x\" is not an argument that is only written"));
  EXPECT_THAT(refused([](auto& k) { k.like = {{"y", "z"}}; }),
              says("like: \"z\" is not an argument that is read"));
}

}  // namespace
}  // namespace texloom::runtime
