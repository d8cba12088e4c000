// Tests the concatenation of plans, and temporaries at the places that a plan gives.
#include "runtime/plan/concatenate.h"

#include "runtime/plan/validation.h"
#include "tests/runtime/executor/device_program_fixture.h"

namespace texloom::runtime {
namespace {

constexpr TensorRef kX{TensorRef::Kind::Argument, 0}, kY{TensorRef::Kind::Argument, 1};
constexpr TensorRef kMiddle{TensorRef::Kind::Temporary, 0};

// Y = X + 2 by two part plans: a buffer of the whole plan between them, and a texture in each.
LaunchPlan add_two_plan() {
  const LaunchPlan one = add_one_plan();
  const std::vector<PlanPart> parts = {{&one, {kX, kMiddle}}, {&one, {kMiddle, kY}}};
  Result<LaunchPlan> both =
      concatenate({one.arguments, {buffer_tensor("middle", kCount * 4)}}, parts);
  EXPECT_TRUE(both.ok()) << both.status().to_string();
  return both.ok() ? *std::move(both) : LaunchPlan();
}

class ConcatenatePlans : public DeviceProgramTest {
 protected:
  std::vector<float> run(const LaunchPlan& plan) {
    const auto x = make_buffer(hal::bytes_of(ramp(kCount))), y = make_buffer(kCount * 4);
    const auto program = make_program(plan);
    if (program == nullptr) return {};
    EXPECT_TRUE(program->run({{BufferBinding{x}, BufferBinding{y}}}).ok());
    EXPECT_TRUE(device_->queue()->wait_idle().ok());
    return values_of<float>(y);
  }
};

TEST_F(ConcatenatePlans, PartsRunInOrderAndShareKernels) {
  const LaunchPlan plan = add_two_plan();
  EXPECT_EQ(plan.kernels.size(), 2U);
  EXPECT_EQ(plan.temporaries.size(), 3U);
  EXPECT_EQ(run(plan), ramp(kCount, 2));
}

TEST_F(ConcatenatePlans, WhatDoesNotFitIsNamed) {
  const LaunchPlan one = add_one_plan();
  const auto joined = [&](std::vector<TensorSpec> temporaries, std::vector<TensorRef> first,
                          std::vector<TensorRef> second) {
    const std::vector<PlanPart> parts = {{&one, std::move(first)}, {&one, std::move(second)}};
    return concatenate({one.arguments, std::move(temporaries)}, parts).status();
  };
  const TensorSpec middle = buffer_tensor("middle", kCount * 4);
  EXPECT_THAT(joined({middle}, {kX}, {kMiddle, kY}),
              refused("part 0: it takes 2 arguments, got 1"));
  EXPECT_THAT(joined({}, {kX, kY}, {kMiddle, kY}),
              refused("part 1: argument \"X\" is temporary 0, but there are 0"));
  EXPECT_THAT(joined({buffer_tensor("middle", 8)}, {kX, kMiddle}, {kMiddle, kY}),
              refused("argument \"Y\" is a buffer of 768 bytes, but \"middle\" is a buffer of 8"));
  EXPECT_THAT(joined({texture_tensor("middle", kExtent)}, {kX, kMiddle}, {kMiddle, kY}),
              refused("but \"middle\" is a texture"));
  EXPECT_THAT(joined({middle}, {kX, kY}, {kX, kY}), refused("no part uses temporary \"middle\""));
}

// The buffer has an offset in its object; the textures use one larger image in turn.
TEST_F(ConcatenatePlans, TemporariesAreWhereThePlanSays) {
  LaunchPlan plan = add_two_plan();
  plan.workspace =
      WorkspacePlan{.objects = {BufferStorage{kCount * 4 + 4096}, TextureStorage{{10, 6}}},
                    .places = {{.object = 0, .offset = 4096}, {.object = 1}, {.object = 1}}};
  EXPECT_EQ(run(plan), ramp(kCount, 2));
  const auto fails = [&](std::size_t temporary, Placement place) {
    LaunchPlan wrong = plan;
    wrong.workspace->places[temporary] = place;
    return validate(wrong);
  };
  EXPECT_THAT(fails(0, {.object = 0, .offset = 4100}), refused("\"middle\" does not fit object 0"));
  EXPECT_THAT(fails(0, {.object = 1}), refused("\"middle\" does not fit object 1"));
  EXPECT_THAT(fails(0, {.object = 2}),
              refused("\"middle\" does not fit object 2; the workspace has 2"));
  EXPECT_THAT(fails(1, {.object = 1, .origin = {3, 0}}), refused("does not fit object 1"));
  EXPECT_THAT(
      fails(1, {.object = 1, .origin = {2, 0}}),
      refused("kernel \"copy_in\" takes \"X.texture\" at origin (0, 0), but it is at (2, 0)"));
  plan.workspace->places.pop_back();
  EXPECT_THAT(validate(plan), refused("places for 2 temporaries, but there are 3"));
}

TEST_F(ConcatenatePlans, LiveTemporariesDoNotOverlap) {
  const auto with_places = [](std::uint64_t second) {
    return LaunchPlan{.arguments = {},
                      .temporaries = {buffer_tensor("a", 8), buffer_tensor("b", 8)},
                      .modules = {},
                      .kernels = {},
                      .steps = {AllocateStep{0}, AllocateStep{1}},
                      .workspace = WorkspacePlan{.objects = {BufferStorage{64}},
                                                 .places = {{.offset = 8}, {.offset = second}}}};
  };
  TL_EXPECT_OK(validate(with_places(0)));
  TL_EXPECT_OK(validate(with_places(16)));
  for (const std::uint64_t second : {1U, 8U, 15U})
    EXPECT_THAT(validate(with_places(second)), refused("\"a\" and \"b\" are live together"));
}

// A part's symbols become the sizes of its arguments in the whole plan, or the whole plan's symbols
// of the same names.
TEST(ConcatenatePlansAlone, SymbolsOfPartsAreSizesOfTheWhole) {
  using hal::ConstantParam, hal::ElementType;
  const Size a = Size::symbol(0), b = Size::symbol(1);
  const auto of = [](Size::Op op, const Size& x, const Size& y) { return Size::of(op, x, y); };
  LaunchPlan part;
  part.symbols = {"rows", "n"};
  part.scalars = {{"n", ElementType::Int32}, {"alpha", ElementType::Float32}};
  part.arguments = {{"X", ElementType::Float32, {a, 4}, BufferStorage{}}};
  part.temporaries = {{"T", ElementType::Float32, {of(Size::Op::Mul, a, b)}, BufferStorage{}}};
  part.modules.resize(1);
  part.kernels = {
      {.entry = {
           "k",
           {ConstantParam{"rows", ElementType::Int32}, ConstantParam{"n", ElementType::Int32},
            ConstantParam{"n", ElementType::Int32}, ConstantParam{"alpha", ElementType::Float32}},
           {1, 1, 1}}}};
  part.steps = {LaunchStep{0,
                           {of(Size::Op::Add, a, 1), 1, 1},
                           {SymbolValue{0}, SymbolValue{1}, ScalarValue{0}, ScalarValue{1}}}};

  PlanTensors tensors{.symbols = {"h", "n"}};
  const Size half = of(Size::Op::FloorDiv, a, 2);  // of h
  tensors.arguments = {{"input", ElementType::Float32, {half, 4}, BufferStorage{}}};
  const std::vector<PlanPart> parts = {{&part, {kX}}};
  const auto whole = concatenate(tensors, parts);
  ASSERT_TRUE(whole.ok()) << whole.status().to_string();
  EXPECT_TRUE(validate(*whole).ok()) << validate(*whole).to_string();
  EXPECT_EQ(whole->temporaries[0].shape, std::vector<Size>{of(Size::Op::Mul, half, b)});
  const auto& launch = std::get<LaunchStep>(whole->steps[0]);
  EXPECT_EQ(launch.groups[0], of(Size::Op::Add, half, 1));
  EXPECT_EQ(std::get<SizeValue>(launch.operands[0]).size, half);
  EXPECT_EQ(std::get<SymbolValue>(launch.operands[1]).symbol, 1U);
  EXPECT_EQ(std::get<SymbolValue>(launch.operands[2]).symbol, 1U);
  EXPECT_EQ(std::get<ScalarValue>(launch.operands[3]).scalar, 0U);
  ASSERT_EQ(whole->scalars.size(), 1U);
  EXPECT_EQ(whole->scalars[0].name, "alpha");

  tensors.symbols = {"h"};
  EXPECT_THAT(
      concatenate(tensors, parts).status(),
      hal::fails_with(StatusCode::InvalidArgument,
                      "part 0: no extent of an argument consists of the symbol \"n\" alone"));
}

// Parts have their own constants and calls, and read constants of the whole plan.
TEST(ConcatenatePlansAlone, ConstantsAndCallsAreNumberedAnew) {
  LaunchPlan part;
  part.arguments = {buffer_tensor("in", 8), buffer_tensor("out", 8)};
  part.constants = {buffer_tensor("c", 8)};
  part.calls = {
      {.op = "mine::add", .accesses = {hal::Access::Read, hal::Access::Read, hal::Access::Write}}};
  part.steps = {CallStep{0, {kX, {TensorRef::Kind::Constant, 0}, kY}}};
  const std::vector<PlanPart> parts = {{&part, {kX, kMiddle}},
                                       {&part, {{TensorRef::Kind::Constant, 0}, kY}}};
  const auto whole = concatenate({.arguments = part.arguments,
                                  .temporaries = {buffer_tensor("middle", 8)},
                                  .constants = {buffer_tensor("w", 8)}},
                                 parts);
  TL_ASSERT_OK(whole.status());
  TL_EXPECT_OK(validate(*whole));
  EXPECT_EQ(whole->constants.size(), 3U);
  EXPECT_EQ(whole->calls.size(), 2U);
  const auto& second = std::get<CallStep>(whole->steps.back());
  EXPECT_EQ(second.call, 1U);
  EXPECT_EQ(
      second.tensors,
      (std::vector<TensorRef>{{TensorRef::Kind::Constant, 0}, {TensorRef::Kind::Constant, 2}, kY}));
}

// A symbolic texture's size follows from its layout in the whole plan, so the part's layout must be
// equal.
TEST(ConcatenatePlansAlone, OpenTexturesHaveOneLayout) {
  const Size n = Size::symbol(0);
  const TensorLayout rows{{}, {{0, 1, 0}}, {}, {{1, 1, 4}}}, cols{{}, {}, {{0, 1, 0}}, {{1, 1, 4}}};
  LaunchPlan part;
  part.symbols = {"n"};
  part.arguments = {{"X", hal::ElementType::Float32, {n, 4}, TextureStorage{}, rows}};
  part.temporaries = {{"T", hal::ElementType::Float32, {n, 4}, TextureStorage{}, cols}};
  PlanTensors tensors{.symbols = {"h"}};
  tensors.arguments = part.arguments;
  const std::vector<PlanPart> parts = {{&part, {kX}}};
  const auto whole = concatenate(tensors, parts);
  ASSERT_TRUE(whole.ok()) << whole.status().to_string();
  EXPECT_EQ(whole->temporaries[0].layout, cols);
  tensors.arguments[0].layout = cols;
  EXPECT_THAT(concatenate(tensors, parts).status(),
              hal::fails_with(StatusCode::InvalidArgument, "part 0: argument \"X\" is a texture"));
  // If the whole plan's extents are constant, the part's textures get constant sizes.
  tensors.arguments[0] = {"X", hal::ElementType::Float32, {3, 4}, TextureStorage{{1, 3}}};
  const auto known = concatenate(tensors, parts);
  ASSERT_TRUE(known.ok()) << known.status().to_string();
  EXPECT_EQ(std::get<TextureStorage>(known->temporaries[0].storage).extent, (hal::Extent2D{3, 1}));
}

}  // namespace
}  // namespace texloom::runtime
