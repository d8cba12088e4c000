// Tests which plans are invalid on every device.
#include "runtime/plan/validation.h"

#include "tests/runtime/opencl_fixture.h"
#include "tests/runtime/plan/plan_fixture.h"

namespace texloom::runtime {
namespace {

using hal::ElementType;
using hal::fails_with;

// Kernel 0 reads a texture of 4x4 and writes a buffer of 256 bytes; kernel 1 takes two constants.
LaunchPlan plan_with(std::vector<Step> steps) {
  LaunchPlan plan;
  plan.arguments = {texture_tensor("X", {4, 4}), buffer_tensor("Y", 256)};
  plan.temporaries = {texture_tensor("T", {8, 4}), buffer_tensor("U", 128)};
  plan.constants = {buffer_tensor("W", 256)};
  plan.modules = {{}};
  plan.kernels = {
      {.entry = {.name = "copy",
                 .params = {hal::TextureParam{.name = "in", .min_extent = {4, 4}},
                            hal::BufferParam{
                                .name = "out", .access = hal::Access::Write, .min_bytes = 256}}}},
      {.entry = {.name = "count",
                 .params = {hal::ConstantParam{.name = "n", .type = ElementType::Int32},
                            hal::ConstantParam{.name = "m", .type = ElementType::UInt64}}}}};
  plan.calls = {{.op = "mine::copy", .accesses = {hal::Access::Read, hal::Access::Write}}};
  plan.steps = std::move(steps);
  return plan;
}

constexpr TensorRef kX{TensorRef::Kind::Argument, 0}, kY{TensorRef::Kind::Argument, 1};
constexpr TensorRef kW{TensorRef::Kind::Constant, 0};

Status status_of(std::vector<Step> steps) { return validate(plan_with(std::move(steps))); }

Status status_of_count(Operand n, Operand m = Immediate{0}) {
  return status_of({launch(1, {1, 1, 1}, {std::move(n), std::move(m)})});
}

auto refused(const std::string& part) { return fails_with(StatusCode::InvalidArgument, part); }
auto too_long() {
  return fails_with(StatusCode::LimitExceeded, "one run would make more than 1000000 launches");
}

TEST(LaunchPlan, PlanWithEveryKindOfStepIsValid) {
  TL_ASSERT_OK(status_of(
      {AllocateStep{0}, launch(0, {1, 1, 1}, {temporary(0), argument(1)}), FreeStep{0},
       loop(3, 5,
            {AllocateStep{1}, launch(1, {1, 1, 1}, {LoopVariable{3}, origin_x(argument(0))}),
             loop(4, 0, {launch(1, {1, 1, 1}, {LoopVariable{3}, LoopVariable{4}})}), FreeStep{1}}),
       loop(3, 2, {})}));
}

TEST(LaunchPlan, IndicesOutOfRange) {
  EXPECT_THAT(status_of({AllocateStep{2}}),
              refused("allocate: temporary 2 is out of range: there are 2"));
  EXPECT_THAT(status_of({FreeStep{2}}), refused("free: temporary 2 is out of range: there are 2"));
  EXPECT_THAT(status_of({launch(2, {1, 1, 1}, {})}),
              refused("kernel 2 is out of range: there are 2"));
  EXPECT_THAT(
      status_of({launch(0, {1, 1, 1}, {argument(2), argument(1)})}),
      refused("kernel \"copy\": operand 0 \"in\": argument 2 is out of range: there are 2"));
  EXPECT_THAT(status_of({launch(0, {1, 1, 1}, {temporary(5), argument(1)})}),
              refused("temporary 5 is out of range: there are 2"));
}

TEST(LaunchPlan, LivesOfTemporaries) {
  const Step use = launch(0, {1, 1, 1}, {temporary(0), argument(1)});
  EXPECT_THAT(status_of({use}), refused("temporary \"T\" is used while not allocated"));
  EXPECT_THAT(status_of({AllocateStep{0}, FreeStep{0}, use}), refused("used while not allocated"));
  EXPECT_THAT(status_of({FreeStep{0}}), refused("temporary \"T\" is freed while not allocated"));
  EXPECT_THAT(status_of({AllocateStep{0}, FreeStep{0}, FreeStep{0}}),
              refused("freed while not allocated"));
  EXPECT_THAT(status_of({AllocateStep{0}, AllocateStep{0}}), refused("allocated twice"));
  EXPECT_THAT(status_of({AllocateStep{0}, FreeStep{0}, AllocateStep{0}}),
              refused("allocated twice"));
  EXPECT_THAT(status_of({loop(0, 2, {AllocateStep{0}})}),
              refused("temporary \"T\" is allocated in a loop and not freed in it"));
  EXPECT_THAT(status_of({AllocateStep{0}, loop(0, 2, {FreeStep{0}})}),
              refused("temporary \"T\" is freed in a loop"));
  // Outside loops a temporary may live until the end.
  TL_ASSERT_OK(status_of({AllocateStep{0}, use}));
}

TEST(LaunchPlan, Loops) {
  EXPECT_THAT(status_of({loop(0, -1, {})}), refused("extent -1"));
  EXPECT_THAT(status_of({loop(7, 2, {loop(7, 2, {})})}),
              refused("loop variable 7 is already the variable of an outer loop"));
  std::vector<Step> body;
  for (int depth = 0; depth < kMaxLoopDepth; ++depth) {
    std::vector<Step> outer;
    outer.push_back(loop(static_cast<std::uint32_t>(depth), 1, std::move(body)));
    body = std::move(outer);
  }
  TL_ASSERT_OK(status_of(body));
  EXPECT_THAT(status_of({loop(1000, 1, body)}), refused("deeper than 32"));
}

// The number of a run's launches, multiplied by the trip counts of loops, is limited.
TEST(LaunchPlan, Launches) {
  const auto times = [](std::int64_t outer, std::int64_t inner) {
    const Step count = launch(1, {1, 1, 1}, {Immediate{0}, Immediate{0}});
    return status_of({loop(0, outer, {loop(1, inner, {count})}), count});
  };
  TL_ASSERT_OK(times(27, 37037));  // 999,999, plus the launch outside
  EXPECT_THAT(times(1000, 1000), too_long());
  EXPECT_THAT(times(std::int64_t{1} << 40, std::int64_t{1} << 40), too_long());
  TL_ASSERT_OK(times(0, std::int64_t{1} << 40));
  // Iterations without launches count, too.
  TL_ASSERT_OK(times(999'999, 0));
  EXPECT_THAT(times(std::int64_t{1} << 40, 0), too_long());
}

// Extents and grids that depend on enclosing loops: 1 + 2 + ... launches.
TEST(LaunchPlan, LoopsInLoops) {
  const Size next = Size::of(Size::Op::Add, Size::loop_variable(0), 1);
  const auto triangle = [&](std::int64_t rows) {
    return status_of({loop(
        0, rows, {loop(1, next, {launch(1, {next, 1, 1}, {LoopVariable{1}, Immediate{0}})})})});
  };
  TL_ASSERT_OK(triangle(1413));  // 998,991
  EXPECT_THAT(triangle(1414), too_long());
  // Each round makes half of the allowed launches.
  const Size half = Size::of(Size::Op::Max, Size::loop_variable(0), kMaxLaunches / 2);
  const auto halves = [&](std::int64_t rounds) {
    return status_of(
        {loop(0, rounds, {loop(1, half, {launch(1, {1, 1, 1}, {Immediate{0}, Immediate{0}})})})});
  };
  TL_ASSERT_OK(halves(2));
  EXPECT_THAT(halves(3), too_long());
  EXPECT_THAT(status_of({loop(1, next, {})}), refused("loop variable 1: its extent uses"));
  EXPECT_THAT(status_of({launch(1, {next, 1, 1}, {Immediate{0}, Immediate{0}})}),
              refused("the grid of a launch does not fit in 32 bits"));
  const Size none = Size::of(Size::Op::FloorDiv, 8, Size::loop_variable(0));
  EXPECT_THAT(status_of({loop(0, 2, {loop(1, none, {})})}), refused("floordiv(8, 0) has no value"));
  LaunchPlan plan = plan_with({});
  plan.arguments[1].shape[0] = Size::loop_variable(0);
  EXPECT_THAT(validate(plan), refused("the shape of \"Y\" has a symbol that is not in the plan"));
}

TEST(LaunchPlan, OperandsOfTensorParameters) {
  const auto copy = [](Operand in, Operand out) {
    return status_of(
        {AllocateStep{0}, AllocateStep{1}, launch(0, {1, 1, 1}, {std::move(in), std::move(out)})});
  };
  TL_ASSERT_OK(copy(temporary(0), argument(1)));  // a larger texture is allowed
  EXPECT_THAT(
      copy(argument(1), argument(1)),
      refused("expected a texture rgba32float of 4x4 texels, but \"Y\" is a buffer of 256 bytes"));
  EXPECT_THAT(copy(argument(0), argument(0)),
              refused("operand 1 \"out\": expected a buffer of 256 bytes, but \"X\" is a texture"));
  EXPECT_THAT(copy(argument(0), temporary(1)), refused("\"U\" is a buffer of 128 bytes"));
  EXPECT_THAT(copy(Immediate{1}, argument(1)), refused("got a number"));
  EXPECT_THAT(status_of({launch(0, {1, 1, 1}, {argument(0)})}),
              refused("kernel \"copy\" takes 2 operands, got 1"));

  LaunchPlan plan = plan_with({launch(0, {1, 1, 1}, {argument(0), argument(1)})});
  plan.arguments[0] = texture_tensor("X", {4, 4}, hal::TexelFormat::Rgba16Float);
  EXPECT_THAT(validate(plan), refused("\"X\" is a texture rgba16float"));
  plan.arguments[0] = texture_tensor("X", {4, 3});
  EXPECT_THAT(validate(plan), refused("\"X\" is a texture rgba32float of 4x3 texels"));
}

TEST(LaunchPlan, OperandsOfConstants) {
  constexpr std::int64_t kInt32Max = 0x7fffffff;
  TL_ASSERT_OK(status_of_count(Immediate{kInt32Max}));
  TL_ASSERT_OK(status_of_count(Immediate{-kInt32Max - 1}));
  EXPECT_THAT(status_of_count(Immediate{kInt32Max + 1}),
              refused("operand 0 \"n\": a constant int32 cannot hold 2147483648"));
  EXPECT_THAT(status_of_count(Immediate{-kInt32Max - 2}), refused("cannot hold"));
  EXPECT_THAT(status_of_count(Immediate{0}, Immediate{-1}), refused("uint64 cannot hold -1"));
  EXPECT_THAT(status_of_count(argument(0)), refused("expected a constant int32, got a tensor"));
  EXPECT_THAT(status_of_count(LoopVariable{0}), refused("loop variable 0 has no loop"));
  EXPECT_THAT(status_of_count(origin_x(argument(1))), refused("\"Y\" has no origin"));
  EXPECT_THAT(status_of_count(origin_x(temporary(0))), refused("used while not allocated"));
  const Step use = launch(1, {1, 1, 1}, {LoopVariable{0}, Immediate{0}});
  // The long loop is inside a loop that never runs, since its launches would exceed the limit.
  TL_ASSERT_OK(status_of({loop(1, 0, {loop(0, kInt32Max + 1, {use})})}));
  EXPECT_THAT(status_of({loop(1, 0, {loop(0, kInt32Max + 2, {use})})}),
              refused("cannot hold 2147483648"));
  EXPECT_THAT(status_of({loop(0, 1, {}), use}), refused("has no loop around it"));

  LaunchPlan plan = plan_with({launch(1, {1, 1, 1}, {Immediate{1}, Immediate{1}})});
  plan.kernels[1].entry.params[1] = hal::ConstantParam{.name = "m", .type = ElementType::UInt32};
  TL_ASSERT_OK(validate(plan));
  std::get<LaunchStep>(plan.steps[0]).operands[1] = Immediate{0x100000000};
  EXPECT_THAT(validate(plan), refused("uint32 cannot hold 4294967296"));
  plan.kernels[1].entry.params[1] = hal::ConstantParam{.name = "m", .type = ElementType::Float32};
  std::get<LaunchStep>(plan.steps[0]).operands[1] = Immediate{1};
  EXPECT_THAT(validate(plan), refused("float32 cannot hold 1"));
}

// A scalar may only be passed to a constant of its own type.
TEST(LaunchPlan, ScalarsAsConstants) {
  LaunchPlan plan = plan_with({launch(1, {1, 1, 1}, {ScalarValue{1}, Immediate{0}})});
  const auto with_types = [&](ElementType first, ElementType second) {
    plan.scalars = {{.name = "alpha", .element = first}, {.name = "beta", .element = second}};
    return validate(plan);
  };
  TL_ASSERT_OK(with_types(ElementType::Float32, ElementType::Int32));
  EXPECT_THAT(
      with_types(ElementType::Int32, ElementType::Float32),
      refused("operand 0 \"n\": expected a constant int32, but the scalar \"beta\" is float32"));
  EXPECT_THAT(with_types(ElementType::Int32, ElementType::Int64), refused("\"beta\" is int64"));
  plan.kernels[1].entry.params[0] = hal::ConstantParam{.name = "n", .type = ElementType::Float32};
  TL_ASSERT_OK(with_types(ElementType::Int32, ElementType::Float32));
  plan.scalars.pop_back();
  EXPECT_THAT(validate(plan), refused("scalar 1 is out of range: there are 1"));
}

TEST(PlanValidation, ConstantsAreOnlyRead) {
  EXPECT_THAT(status_of({launch(0, {1, 1, 1}, {kX, kW})}), refused("constant \"W\" is written"));
  TL_EXPECT_OK(status_of({CallStep{0, {kW, kY}}}));
  EXPECT_THAT(status_of({CallStep{0, {kY, kW}}}),
              refused("operator \"mine::copy\": tensor 1: constant \"W\" is written"));
}

TEST(PlanValidation, CallsOfOperators) {
  EXPECT_THAT(status_of({CallStep{1, {kX, kY}}}), refused("call 1 is out of range: there are 1"));
  EXPECT_THAT(status_of({CallStep{0, {kX}}}), refused("\"mine::copy\" takes 2 tensors, got 1"));
  EXPECT_THAT(status_of({CallStep{0, {{TensorRef::Kind::Temporary, 0}, kY}}}),
              refused("temporary \"T\" is used while not allocated"));
}

TEST(PlanValidation, KernelsHaveModulesAndNames) {
  LaunchPlan plan = plan_with({});
  plan.kernels[1].entry.name = "copy";
  EXPECT_THAT(validate(plan), refused("module 0 has two kernels \"copy\""));
  plan.kernels[1].module = 1;
  EXPECT_THAT(validate(plan), refused("kernel \"copy\": module 1 is out of range: there are 1"));
}

}  // namespace
}  // namespace texloom::runtime
