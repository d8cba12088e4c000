// Tests that the writer and the reader refuse packages whose parts contradict each other.
#include "runtime/package/package_check.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "runtime/package/package_file.h"
#include "runtime/package/package_format.h"
#include "runtime/package/package_writer.h"
#include "support/utf8.h"
#include "tests/runtime/package/package_fixture.h"

namespace texloom::runtime {
namespace {

using ::testing::HasSubstr;
using Kind = TensorRef::Kind;

std::string problem_of(const Package& package) {
  const Status status = check_packages(std::span(&package, 1));
  EXPECT_TRUE(status.ok() || status.code() == StatusCode::InvalidArgument ||
              status.code() == StatusCode::LimitExceeded);
  return status.message();
}

std::string problem_after(const std::function<void(Package&)>& change) {
  Package package = example_package();
  change(package);
  return problem_of(package);
}
std::string problem_in_plan(const std::function<void(LaunchPlan&)>& change) {
  return problem_after([&](Package& p) { change(p.variants[1].plan); });
}

Size long_size(int operators) {
  Size size = 1;
  for (int i = 0; i < operators; ++i) size = Size::of(Size::Op::Add, size, 0);
  return size;
}

TEST(PackageCheck, AcceptsWhatFits) {
  EXPECT_EQ(problem_of(example_package()), "");
  EXPECT_EQ(problem_of(symbolic_package()), "");
  EXPECT_THAT(check_packages({}).message(), HasSubstr("there is no package"));
  // An argument that is read and written is an input and an output.
  EXPECT_EQ(problem_after([](Package& p) { p.inputs.push_back(3); }), "");
  // A tensor may have no storage in a variant.
  EXPECT_EQ(problem_after([](Package& p) { p.variants[0].stores[2] = {}; }), "");
}

TEST(PackageCheck, Names) {
  const auto named = [](std::string name) {
    return problem_after([&](Package& p) { p.tensors[2].name = std::move(name); });
  };
  EXPECT_THAT(named(""), HasSubstr("the name of tensor 2 is empty"));
  EXPECT_THAT(named("X"), HasSubstr("two tensors are named \"X\""));
  EXPECT_THAT(named(std::string(5000, 'x')), HasSubstr("has 5000 bytes; 4096 is the limit"));
  for (const char* text : {"a\nb", "\x1b[2J", "\x7f", "\xc2\x9b", "\xc3", "\xc0\xaf",
                           "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80"})
    EXPECT_THAT(named(text), HasSubstr("must be valid UTF-8 without control characters")) << text;
  EXPECT_EQ(named("Übergröße 層 😀"), "");
  EXPECT_TRUE(is_utf8("two\nlines"));
  EXPECT_THAT(problem_after([](Package& p) { p.nodes[1].name = "scale_0"; }),
              HasSubstr("two nodes are named"));
  EXPECT_THAT(problem_after([](Package& p) { p.metadata.push_back(p.metadata[0]); }),
              HasSubstr("metadata: two attributes are named \"license\""));
}

TEST(PackageCheck, ReferencesOfTheGraph) {
  EXPECT_THAT(problem_after([](Package& p) { p.nodes[0].inputs[1] = 4; }),
              HasSubstr("node \"scale_0\": tensor 4 is out of range: there are 4"));
  EXPECT_THAT(problem_after([](Package& p) { p.outputs[0] = 9; }),
              HasSubstr("tensor 9 is out of range: there are 4"));
  EXPECT_THAT(problem_after([](Package& p) { p.inputs.push_back(0); }),
              HasSubstr("tensor \"X\" occurs twice among the inputs"));
  EXPECT_THAT(problem_after([](Package& p) { p.tensors[0].role = TensorRole::Output; }),
              HasSubstr("the role of tensor \"X\""));
  EXPECT_THAT(problem_after([](Package& p) { p.tensors[0].shape[0] = Size::symbol(0); }),
              HasSubstr("uses unknown symbols"));
  EXPECT_THAT(problem_after([](Package& p) { p.numbers[0].symbol = 1; }),
              HasSubstr("symbol 1, but there are 1"));
  EXPECT_THAT(problem_after([](Package& p) { p.numbers[0].position = 3; }),
              HasSubstr("position 3, but there are 3"));
  EXPECT_THAT(problem_after([](Package& p) { p.numbers.push_back(p.numbers[0]); }),
              HasSubstr("not in the order of their positions"));
  EXPECT_THAT(problem_after([](Package& p) { p.variants.clear(); }), HasSubstr("no variant"));
}

TEST(PackageCheck, Stores) {
  const auto stored = [](std::size_t tensor, const TensorStore& store) {
    return problem_after([&](Package& p) { p.variants[1].stores[tensor] = store; });
  };
  EXPECT_THAT(stored(0, {TensorRef{Kind::Argument, 2}, 0, "global", ""}),
              HasSubstr("variant 1: tensor \"X\": it is argument 2, but there are 2"));
  EXPECT_THAT(stored(0, {TensorRef{Kind::Temporary, 0}, 0, "texture", ""}),
              HasSubstr("the plan, in which it is temporary \"H\""));
  EXPECT_THAT(stored(2, {TensorRef{Kind::Argument, 0}, 0, "global", ""}),
              HasSubstr("the plan, in which it is argument \"X\""));
  EXPECT_THAT(stored(2, {TensorRef{Kind::Temporary, 0}, 0, "global", ""}),
              HasSubstr("its storage scope is \"global\", but it is a texture"));
  EXPECT_THAT(stored(3, {TensorRef{Kind::Argument, 0}, 0, "global", ""}),
              HasSubstr("it and another tensor are the same argument \"X\""));
  EXPECT_THAT(stored(3, {}), HasSubstr("no step writes it"));
  EXPECT_THAT(stored(0, {}), HasSubstr("argument \"X\" is neither an input nor an output"));
  EXPECT_THAT(problem_after([](Package& p) { p.tensors[0].element = hal::ElementType::Int32; }),
              HasSubstr("it has elements of int32, but the plan has float32"));
  EXPECT_THAT(problem_after([](Package& p) { p.variants[1].stores.pop_back(); }),
              HasSubstr("it places 3 tensors, but the package has 4"));
  EXPECT_THAT(problem_after([](Package& p) { p.variants[1].nodes.pop_back(); }),
              HasSubstr("the nodes of 4 steps, but the plan has 5"));
  EXPECT_THAT(problem_after([](Package& p) { p.variants[1].nodes[1] = 2; }),
              HasSubstr("a step belongs to node 2, but there are 2 nodes"));
  EXPECT_THAT(problem_after([](Package& p) { p.variants[1].constants.clear(); }),
              HasSubstr("the values of 0 constants, but the plan has 1"));
  EXPECT_THAT(problem_after([](Package& p) { p.variants[1].plan.symbols = {"m"}; }),
              HasSubstr("its symbols are (m), but those of the package are ()"));
}

TEST(PackageCheck, Plans) {
  const auto in_codes = [](const std::function<void(std::vector<hal::KernelCode>&)>& change) {
    return problem_in_plan([&](LaunchPlan& p) { change(p.modules[0].codes); });
  };
  EXPECT_THAT(in_codes([](auto& codes) { codes[0].origin = codes[3].origin; }),
              HasSubstr("module 0: OpenCL C names a driver as its maker"));
  EXPECT_THAT(in_codes([](auto& codes) { codes[3].origin->maker.language_version = "C\n"; }),
              HasSubstr("module 0: a word of a binary's maker must be valid UTF-8"));
  EXPECT_THAT(in_codes([](auto& codes) { codes[3].origin->maker.device.assign(5000, 'a'); }),
              HasSubstr("module 0: a word of a binary's maker has 5000 bytes; 4096 is the limit"));
  EXPECT_THAT(problem_in_plan([](LaunchPlan& p) { p.modules[0].codes.clear(); }),
              HasSubstr("module 0 has no code"));
  EXPECT_THAT(problem_in_plan([](LaunchPlan& p) { p.kernels[0].entry.workgroup_size[1] = 0; }),
              HasSubstr("a work group of zero threads"));
  EXPECT_THAT(problem_in_plan([](LaunchPlan& p) { p.scalars[0].element = hal::ElementType::Int8; }),
              HasSubstr("the scalar \"alpha\" is int8"));
  EXPECT_THAT(problem_in_plan([](LaunchPlan& p) { p.steps.pop_back(), p.steps.pop_back(); }),
              HasSubstr("steps"));
  // validate() finds the following errors.
  EXPECT_THAT(problem_in_plan([](LaunchPlan& p) { p.steps[4] = FreeStep{2}; }),
              HasSubstr("free: temporary 2 is out of range: there are 2"));
  EXPECT_THAT(problem_in_plan([](LaunchPlan& p) { p.workspace->objects.clear(); }),
              HasSubstr("does not fit object 0; the workspace has 0"));
}

TEST(PackageCheck, Layouts) {
  const auto laid_out = [](const std::function<void(TensorSpec&)>& change) {
    return problem_in_plan([&](LaunchPlan& p) { change(p.temporaries[0]); });
  };
  EXPECT_THAT(laid_out([](TensorSpec& t) { t.layout.rows[0].axis = 3; }),
              HasSubstr("a digit of axis 3, but there are 3"));
  EXPECT_THAT(laid_out([](TensorSpec& t) { t.layout.rows[0].divisor = 0; }),
              HasSubstr("divides axis 0 by 0"));
  EXPECT_THAT(laid_out([](TensorSpec& t) { t.layout.rows[0].divisor = 2; }),
              HasSubstr("gives an index of axis 0 no place, or two"));
  EXPECT_THAT(laid_out([](TensorSpec& t) { t.layout.cols = {{0, 1, 2}, {1, 1, 2}}; }),
              HasSubstr("gives an index of axis 0 no place, or two"));
  EXPECT_THAT(laid_out([](TensorSpec& t) { t.layout.rows[0].extent = 1; }),
              HasSubstr("has places for 1 of 2 indices of axis 0"));
  EXPECT_THAT(laid_out([](TensorSpec& t) { t.layout.rows[0].extent = 3; }),
              HasSubstr("has 3 rows of 4 columns with 4 lanes of float32, but it is a texture"));
  EXPECT_THAT(laid_out([](TensorSpec& t) { t.element = hal::ElementType::Float16; }),
              HasSubstr("4 lanes of float16"));
  for (const std::int64_t extent : {std::int64_t{0}, std::int64_t{-4}, std::int64_t{1} << 62})
    EXPECT_THAT(laid_out([&](TensorSpec& t) { t.layout.cols[0].extent = extent; }),
                HasSubstr("an extent below 1, or too many places"));
  EXPECT_THAT(laid_out([&](TensorSpec& t) { t.layout.shape[0] = std::int64_t{1} << 62; }),
              HasSubstr("an extent below 1, or too many places"));
  EXPECT_THAT(problem_in_plan([](LaunchPlan& p) { p.arguments[0].layout = row_major({31}); }),
              HasSubstr("argument \"X\": its layout has 1 rows of 31 columns"));
  EXPECT_THAT(problem_in_plan([](LaunchPlan& p) { p.arguments[0].layout = {}; }),
              HasSubstr("argument \"X\": it has no layout"));
  // A fold moves a part of the rows to the columns.
  EXPECT_EQ(
      problem_after([](Package& p) {
        for (PackageVariant& variant : p.variants) {
          TensorSpec& w = variant.plan.constants[0];
          w.layout.rows.clear();
          w.layout.cols = {{0, 1, 2}, {1, 1, 4}};
          w.storage = TextureStorage{{8, 1}};
          std::get<hal::TextureParam>(variant.plan.kernels[0].entry.params[1]).min_extent = {};
        }
      }),
      "");
}

// Limits keep the loading time proportional to the file's size.
TEST(PackageCheck, Limits) {
  EXPECT_EQ(problem_in_plan([](LaunchPlan& p) {
              std::get<LoopStep>(p.steps[1]).extent = long_size(511);  // 1023 steps
            }),
            "");
  EXPECT_THAT(problem_in_plan(
                  [](LaunchPlan& p) { std::get<LoopStep>(p.steps[1]).extent = long_size(512); }),
              HasSubstr("a size has 1025 steps; 1024 is the limit"));
  EXPECT_THAT(problem_in_plan([](LaunchPlan& p) {
                p.temporaries.resize(kMaxTemporaries + 1, p.temporaries[0]);
              }),
              HasSubstr("16385 temporaries"));
  // A million iterations, each of which visits a thousand empty loops.
  const auto idle = [](LaunchPlan& p) {
    LoopStep outer{5000, 1'000'000, {}};
    for (std::uint32_t i = 0; i < 1000; ++i)
      outer.body.emplace_back(
          LoopStep{i, Size::of(Size::Op::Mul, Size::loop_variable(5000), 0), {}});
    p.steps[2] = outer;
  };
  EXPECT_THAT(problem_in_plan(idle), HasSubstr("more than 16000000 steps"));
  const auto barriers = [](LaunchPlan& p) {
    p.steps[2] = LoopStep{5000, 1'000'000, std::vector<Step>(100, BarrierStep{})};
  };
  EXPECT_THAT(problem_in_plan(barriers), HasSubstr("more than 16000000 steps"));
}

// --- Errors that only a file can have.

std::vector<std::byte> file_of(const Package& package) {
  return *package_bytes(std::span(&package, 1));
}

TEST(PackageCheck, LoopsThatNestTooDeepInAFile) {
  // The writer refuses this nesting, so the test patches a file of the deepest allowed nesting.
  Package package = symbolic_package();
  Step step = std::get<LaunchStep>(package.variants[0].plan.steps[0]);
  for (std::uint32_t depth = 0; depth < kMaxLoopDepth; ++depth) step = LoopStep{depth, 1, {step}};
  package.variants[0].plan.steps = {step};
  EXPECT_TRUE(PackageFile::open(file_of(package)).ok());
  package.variants[0].plan.steps = {LoopStep{100, 1, {step}}};
  EXPECT_THAT(problem_of(package), HasSubstr("loops nest deeper than 32"));
}

// Accesses a number in the index of a file.
template <class T>
T number_at(const std::vector<std::byte>& file, std::size_t at) {
  T number;
  std::memcpy(&number, file.data() + at, sizeof number);
  return number;
}

// If many tables could refer to one large part, a small file would fill the memory.
TEST(PackageCheck, AnIndexThatRefersToItsPartsTwice) {
  Package small = symbolic_package();
  const std::vector<Package> packages = {example_package(), small};
  std::vector<std::byte> file = *package_bytes(packages);
  auto header = number_at<PackageHeader>(file, 0);
  const auto begin = static_cast<std::size_t>(header.index_offset);
  // A FlatBuffer begins with the offset of its root; the graphs are the root's first field.
  const std::size_t root = begin + number_at<std::uint32_t>(file, begin);
  const std::size_t fields =
      root - static_cast<std::size_t>(number_at<std::int32_t>(file, root)) + 4;
  const std::size_t field = root + number_at<std::uint16_t>(file, fields);
  const std::size_t list = field + number_at<std::uint32_t>(file, field);
  ASSERT_EQ(number_at<std::uint32_t>(file, list), 2U);
  const std::uint32_t first = number_at<std::uint32_t>(file, list + 4) - 4;
  std::memcpy(file.data() + list + 8, &first, sizeof first);
  header.index_checksum = checksum_of(std::span(file).subspan(begin));
  std::memcpy(file.data(), &header, sizeof header);
  const std::string problem = PackageFile::open(file).status().message();
  EXPECT_TRUE(problem.find("the index refers to the same bytes several times") != problem.npos ||
              problem.find("is used twice") != problem.npos)
      << problem;
}

TEST(SizeSteps, AreOneExpression) {
  using Op = Size::Op;
  const Size sum = Size::of(Op::Add, Size::symbol(1), Size::loop_variable(2));
  EXPECT_EQ(*Size::from_steps(sum.steps()), sum);
  EXPECT_EQ(*Size::from_steps({{Op::Constant, -5}}), Size(-5));
  for (const std::vector<Size::Step>& wrong : {std::vector<Size::Step>{},
                                               {{Op::Add, 0}},
                                               {{Op::Constant, 1}, {Op::Add, 0}},
                                               {{Op::Constant, 1}, {Op::Constant, 1}},
                                               {{Op::Symbol, -1}},
                                               {{Op::LoopVariable, std::int64_t{1} << 32}},
                                               {{static_cast<Op>(10), 0}}})
    EXPECT_FALSE(Size::from_steps(wrong).ok());
  EXPECT_THAT(Size::from_steps({{static_cast<Op>(10), 0}}).status().message(),
              HasSubstr("step 0 of a size has operator 10; operators are numbered 0 to 9"));
}

// The layout of a texture of symbolic size has an open number of rows.
TEST(PackageCheck, OpenLayouts) {
  const auto laid_out = [](const std::function<void(TensorSpec&)>& change) {
    Package package = symbolic_package();
    TensorSpec& tensor = package.variants[0].plan.temporaries.emplace_back();
    tensor = {"T", hal::ElementType::Float32, {Size::symbol(0), 6}, TextureStorage{}};
    tensor.layout = {{}, {{0, 2, 0}}, {{0, 1, 2}, {1, 4, 2}}, {{1, 1, 4}}};
    change(tensor);
    return problem_of(package);
  };
  EXPECT_EQ(laid_out([](TensorSpec&) {}), "");
  EXPECT_THAT(laid_out([](TensorSpec& t) { t.layout.rows[0].extent = 1 << 20; }),
              HasSubstr("has places for 2097152 indices of axis 0, whose extent is not known"));
  EXPECT_THAT(laid_out([](TensorSpec& t) { t.layout.cols[0].extent = 0; }),
              HasSubstr("gives an index of axis 0 no place, or two"));
  EXPECT_THAT(laid_out([](TensorSpec& t) { t.layout.cols[1].extent = 0; }),
              HasSubstr("has places for 0 of 6 indices of axis 1"));
  EXPECT_THAT(laid_out([](TensorSpec& t) { t.layout.lanes = {{1, 1, 2}, {1, 2, 2}, {0, 2, 0}}; }),
              HasSubstr("gives an index of axis 0 no place, or two"));
  EXPECT_THAT(laid_out([](TensorSpec& t) {
                t.layout = {{}, {{0, 2, 0}}, {{0, 1, 2}, {1, 2, 3}}, {{1, 1, 2}}};
              }),
              HasSubstr("its layout has 2 lanes of float32, but it is a texture rgba32float"));
  EXPECT_THAT(laid_out([](TensorSpec& t) { t.element = hal::ElementType::Float16; }),
              HasSubstr("its layout has 4 lanes of float16"));
  EXPECT_THAT(laid_out([](TensorSpec& t) { t.layout.rows[0].axis = 7; }),
              HasSubstr("a digit of axis 7, but there are 2"));
  EXPECT_THAT(laid_out([](TensorSpec& t) { t.layout.shape = {1, 6}; }),
              HasSubstr("its layout has a shape, but its size is not known"));
  EXPECT_THAT(laid_out([](TensorSpec& t) { t.storage = BufferStorage{}; }),
              HasSubstr("it has a layout, but its size is not known"));
  EXPECT_THAT(laid_out([](TensorSpec& t) { t.layout = {}; }),
              HasSubstr("has neither a constant shape nor a layout"));
  EXPECT_THAT(laid_out([](TensorSpec& t) { t.storage = TextureStorage{{4, 4}}; }),
              HasSubstr("has a constant size, but its shape has symbols"));
}

}  // namespace
}  // namespace texloom::runtime
