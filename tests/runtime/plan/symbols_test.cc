#include "runtime/plan/symbols.h"

#include <gtest/gtest.h>

#include "runtime/plan/validation.h"

namespace texloom::runtime {
namespace {

Size n() { return Size::symbol(0); }
Size m() { return Size::symbol(1); }
Size of(Size::Op op, const Size& a, const Size& b) { return Size::of(op, a, b); }

// Makes a plan over n and m with arguments of these shapes.
LaunchPlan plan_of(const std::vector<std::vector<Size>>& shapes) {
  LaunchPlan plan;
  plan.symbols = {"n", "m"};
  for (const std::vector<Size>& shape : shapes) {
    plan.arguments.push_back({std::string(1, static_cast<char>('A' + plan.arguments.size())),
                              hal::ElementType::Float32, shape, BufferStorage{}});
  }
  return plan;
}

// Returns the values as text, or the error.
std::string bound(const LaunchPlan& plan, const std::vector<Shape>& shapes,
                  const GivenSymbols& given = {}) {
  const auto values = bind_symbols(plan, shapes, given);
  if (!values.ok()) return values.status().message();
  std::string text;
  for (const std::int64_t v : *values) text += (text.empty() ? "" : " ") + std::to_string(v);
  return text;
}

TEST(Size, IsComputedFromSymbols) {
  const Size tiles = of(Size::Op::FloorDiv, of(Size::Op::Add, n(), 63), 64);
  EXPECT_EQ(*tiles.at(std::vector<std::int64_t>{65}), 2);
  EXPECT_EQ(*of(Size::Op::FloorMod, n(), 4).at(std::vector<std::int64_t>{-1}), 3);
  EXPECT_EQ(*of(Size::Op::Max, n(), of(Size::Op::Min, m(), 7)).at(std::vector<std::int64_t>{5, 9}),
            7);
  EXPECT_EQ(Size(8).constant(), 8);
  EXPECT_EQ(n().constant(), std::nullopt);
  EXPECT_EQ(tiles.symbol_count(), 1);
  EXPECT_EQ(of(Size::Op::Sub, 3, m()).text(std::vector<std::string>{"n", "m"}), "3 - m");
}

TEST(Size, SaysWhereItHasNoValue) {
  const std::vector<std::int64_t> zero{0}, large{INT64_MAX};
  EXPECT_FALSE(of(Size::Op::FloorDiv, 1, n()).at(zero).ok());
  EXPECT_FALSE(of(Size::Op::FloorDiv, INT64_MIN, of(Size::Op::Sub, n(), 1)).at(zero).ok());
  EXPECT_FALSE(of(Size::Op::Add, n(), 1).at(large).ok());
  EXPECT_FALSE(of(Size::Op::Sub, -2, n()).at(large).ok());
  EXPECT_FALSE(of(Size::Op::Mul, n(), 2).at(large).ok());
  EXPECT_FALSE(m().at(zero).ok());
}

TEST(BindSymbols, SolvesForOneSymbolAfterTheOther) {
  const Size both = of(Size::Op::Add, n(), m());
  EXPECT_EQ(bound(plan_of({{both, 4}, {of(Size::Op::Mul, 8, n())}}), {{19, 4}, {16}}), "2 17");
  EXPECT_EQ(bound(plan_of({{of(Size::Op::Sub, 10, n()), of(Size::Op::Mul, n(), m())}}), {{7, 12}}),
            "3 4");
}

TEST(BindSymbols, TakesWhatIsGiven) {
  const LaunchPlan plan = plan_of({{of(Size::Op::FloorDiv, n(), 4), m()}});
  EXPECT_EQ(bound(plan, {{2, 5}}, {9, {}}), "9 5");
  EXPECT_EQ(bound(plan, {{3, 5}}, {9, {}}),
            "axis 0 of argument 0 \"A\" is 3, expected floordiv(n, 4) = 2");
  EXPECT_EQ(bound(plan, {{2, 5}}), "no argument's shape determines \"n\"");
  EXPECT_EQ(bound(plan, {{2, 5}}, {int64_t{1} << 31, {}}),
            "\"n\" is 2147483648, which is beyond 2^30");
}

TEST(BindSymbols, NamesTheAxisThatDisagrees) {
  const LaunchPlan plan = plan_of({{n(), 4}, {of(Size::Op::Mul, n(), 2), m()}});
  EXPECT_EQ(bound(plan, {{3, 4}, {6, 1}}), "3 1");
  EXPECT_EQ(bound(plan, {{3, 5}, {6, 1}}), "axis 1 of argument 0 \"A\" is 5, expected 4");
  EXPECT_EQ(bound(plan, {{3, 4}, {8, 1}}), "axis 0 of argument 1 \"B\" is 8, expected n * 2 = 6");
  EXPECT_EQ(bound(plan, {{3, 4}, {6}}), "argument 1 \"B\" has 2 axes, but the array has 1");
  EXPECT_EQ(bound(plan, {{3, 4}}), "the program takes 2 arguments, got 1");
  EXPECT_EQ(bound(plan, {{0, 4}, {0, 1}}), "0 1");
  EXPECT_EQ(bound(plan_of({{of(Size::Op::Sub, n(), 3), m()}}), {{-1, 1}}),
            "axis 0 of argument 0 \"A\" is -1, expected at least 0");
  EXPECT_EQ(bound(plan_of({{of(Size::Op::Mul, n(), 8), m()}}), {{12, 1}}),
            "axis 0 of argument 0 \"A\" is 12, expected n * 8");
}

TEST(CompleteShapes, FollowFromTheShapesThatAreGiven) {
  const LaunchPlan plan = plan_of({{n(), 4}, {of(Size::Op::Add, n(), m()), 3}});
  const std::vector<std::optional<Shape>> given = {Shape{5, 4}, std::nullopt};
  const auto shapes = complete_shapes(plan, given, {{}, 2});
  ASSERT_TRUE(shapes.ok());
  EXPECT_EQ(*shapes, (std::vector<Shape>{{5, 4}, {7, 3}}));
  EXPECT_EQ(complete_shapes(plan, given, {}).status().message(),
            "no argument's shape determines \"m\"");
  EXPECT_EQ(complete_shapes(plan, given, {{}, -6}).status().message(),
            "axis 0 of argument 1 \"B\" is -1, expected at least 0");
  EXPECT_EQ(complete_shapes(plan, std::vector<std::optional<Shape>>{Shape{5, 3}, {}}, {{}, 2})
                .status()
                .message(),
            "axis 1 of argument 0 \"A\" is 3, expected 4");
}

TEST(Instantiate, MakesNumbersOfSizes) {
  LaunchPlan plan = plan_of({{n(), 4}});
  plan.temporaries.push_back(
      {"T", hal::ElementType::Float16, {n(), of(Size::Op::Sub, m(), 3)}, {}});
  plan.modules.resize(1);
  plan.kernels.push_back(
      {.entry = {"k", {hal::ConstantParam{"n", hal::ElementType::Int32}}, {1, 1, 1}}});
  plan.steps.emplace_back(
      LaunchStep{0, {of(Size::Op::Mul, n(), 2), of(Size::Op::Sub, m(), 5), 1}, {SymbolValue{0}}});
  EXPECT_TRUE(validate(plan).ok());
  const auto at = instantiate(plan, std::vector<std::int64_t>{6, 4});
  ASSERT_TRUE(at.ok());
  EXPECT_TRUE(validate(*at).ok());
  EXPECT_EQ(std::get<BufferStorage>(at->arguments[0].storage).bytes, 96);
  EXPECT_EQ(std::get<BufferStorage>(at->temporaries[0].storage).bytes, 12);
  const auto& launch = std::get<LaunchStep>(at->steps[0]);
  EXPECT_EQ(launch.groups, (std::array<Size, 3>{12, 0, 1})) << "a grid of nothing is not negative";
  EXPECT_EQ(std::get<Immediate>(launch.operands[0]).value, 6);
}

// A size that a kernel takes as a parameter becomes a constant argument.
TEST(Instantiate, ComputesTheSizesThatKernelsTake) {
  LaunchPlan plan = plan_of({{n(), m()}});
  plan.modules.resize(1);
  plan.kernels.push_back(
      {.entry = {"k", {hal::ConstantParam{"s", hal::ElementType::Int32}}, {1, 1, 1}}});
  plan.steps.emplace_back(LaunchStep{0, {1, 1, 1}, {SizeValue{of(Size::Op::Mul, n(), m())}}});
  EXPECT_TRUE(validate(plan).ok());
  const auto at = instantiate(plan, std::vector<std::int64_t>{6, 4});
  ASSERT_TRUE(at.ok());
  EXPECT_EQ(std::get<Immediate>(std::get<LaunchStep>(at->steps[0]).operands[0]).value, 24);
  std::get<LaunchStep>(plan.steps[0]).operands[0] = SizeValue{Size::symbol(2)};
  EXPECT_NE(validate(plan).message().find("a size has a symbol that is not in the plan"),
            std::string::npos);
}

TEST(BindSymbols, ChecksTheConditions) {
  LaunchPlan plan = plan_of({{n(), m()}});
  using Kind = SizeCondition::Kind;
  plan.conditions = {{"the node 'add'", Kind::Equal, of(Size::Op::Mul, m(), 2), n()},
                     {"the node 'pool'", Kind::AtLeast, of(Size::Op::Sub, n(), 6), 1}};
  const auto message = [&](std::int64_t rows, std::int64_t columns) {
    return bind_symbols(plan, std::vector<Shape>{{rows, columns}}, {}).status().message();
  };
  EXPECT_EQ(message(8, 4), "");
  EXPECT_EQ(message(8, 3), "the node 'add' needs m * 2 to be n = 8, but it is 6, for n = 8, m = 3");
  EXPECT_EQ(message(6, 3),
            "the node 'pool' needs n - 6 to be at least 1, but it is 0, for n = 6, m = 3");
  plan.conditions[0].right = Size::symbol(2);
  EXPECT_EQ(validate(plan).message(),
            "a condition of the node 'add' has a symbol that is not in the plan");
}

TEST(Instantiate, RefusesWhatKernelsDoNotCount) {
  const LaunchPlan plan = plan_of({{n(), m()}});
  EXPECT_TRUE(instantiate(plan, std::vector<std::int64_t>{1 << 15, 1 << 15}).ok());
  EXPECT_EQ(instantiate(plan, std::vector<std::int64_t>{1 << 15, (1 << 15) + 1}).status().message(),
            "\"A\" has more than 2^30 elements");
  EXPECT_EQ(instantiate(plan, std::vector<std::int64_t>{1}).status().message(),
            "the plan has 2 symbols, got 1");
}

TEST(Validate, KnowsTheSymbolsOfAPlan) {
  LaunchPlan plan = plan_of({{Size::symbol(2)}});
  EXPECT_EQ(validate(plan).message(), "the shape of \"A\" has a symbol that is not in the plan");
  plan.arguments[0].shape = {n()};
  plan.arguments[0].storage = TextureStorage{};
  EXPECT_EQ(validate(plan).message(),
            "the texture \"A\" has neither a constant shape nor a layout");
}

// A texture's rows and columns follow from its layout; parts of a symbolic axis get their extent
// from the call.
TEST(Instantiate, GivesTexturesTheirRowsAndColumns) {
  LaunchPlan plan = plan_of({{n(), of(Size::Op::Add, m(), 1), 6}});
  plan.temporaries = {plan.arguments[0]};
  for (TensorSpec* tensor : {&plan.arguments[0], &plan.temporaries[0]}) {
    tensor->storage = TextureStorage{{}, hal::TexelFormat::Rgba32Float};
    tensor->layout = {{}, {{0, 8, 0}, {2, 4, 2}}, {{0, 1, 8}, {1, 1, 0}}, {{2, 1, 4}}};
  }
  EXPECT_TRUE(validate(plan).ok()) << validate(plan).message();
  const auto call = instantiate(plan, std::vector<std::int64_t>{17, 4});
  ASSERT_TRUE(call.ok()) << call.status().message();
  for (const TensorSpec* tensor : {&call->arguments[0], &call->temporaries[0]}) {
    EXPECT_EQ(std::get<TextureStorage>(tensor->storage).extent, (hal::Extent2D{40, 6}));
    EXPECT_EQ(
        tensor->layout,
        (TensorLayout{{17, 5, 6}, {{0, 8, 3}, {2, 4, 2}}, {{0, 1, 8}, {1, 1, 5}}, {{2, 1, 4}}}));
  }
  EXPECT_TRUE(validate(*call).ok());
  // An extent of 0 counts as 1, since temporaries may be empty but objects may not.
  const auto empty = instantiate(plan, std::vector<std::int64_t>{0, 0});
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(std::get<TextureStorage>(empty->temporaries[0].storage).extent, (hal::Extent2D{8, 2}));

  plan.temporaries[0].layout.cols[0].extent = std::int64_t{1} << 40;
  EXPECT_EQ(instantiate(plan, std::vector<std::int64_t>{1, 1}).status().message(),
            "\"A\" needs an image of more than 2^32 - 1 rows or columns");
}

TEST(Validate, RefusesOpenTexturesWithoutPlaces) {
  LaunchPlan plan = plan_of({{n(), 4}});
  TensorSpec& tensor = plan.arguments[0];
  tensor.storage = TextureStorage{};
  tensor.layout = {{}, {}, {{0, 1, 0}}, {{1, 1, 4}}};
  EXPECT_EQ(validate(plan).message(), "");
  tensor.layout.cols[0].axis = 2;
  EXPECT_EQ(validate(plan).message(),
            "the layout of the texture \"A\" has a digit with an unknown axis, "
            "a divisor below 1 or a negative extent");
  tensor.layout.cols[0] = {0, 0, 0};
  EXPECT_EQ(validate(plan).message(),
            "the layout of the texture \"A\" has a digit with an unknown axis, "
            "a divisor below 1 or a negative extent");
  tensor.layout.cols[0] = {0, 1, 0};
  tensor.storage = TextureStorage{{4, 4}};
  EXPECT_EQ(
      validate(plan).message(),
      "the texture \"A\" has a constant size, but its shape has symbols, so its size must follow "
      "from the call");
}

}  // namespace
}  // namespace texloom::runtime
