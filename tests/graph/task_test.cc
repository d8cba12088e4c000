// Tests the text of tasks, and that a task's identity depends only on its text.
#include "graph/task.h"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codegen/llvm/emit.h"
#include "graph/schedule_operators.h"
#include "support/diagnostic.h"
#include "tests/graph/small_graphs.h"

namespace texloom::graph {
namespace {

namespace te = schedule::testing;

constexpr const char* kText =
    R"(task target="opencl" operands=(row_major, constant, any)
computation 0 (in0, in1) -> (out)

placeholder in0: float32[4]
placeholder in1: float32[4]

compute out(i0 < 4): float32 = in0[i0] * in1[i0]
  tag product
  attributes "{\"rows\": 1}"
)";

// out = in0 + in0, of `extent` elements.
SharedComputation doubling(ir::Type type, int64_t extent) {
  const ir::Tensor in = te::placeholder("in0", {extent}, type);
  const ir::Tensor out = te::compute("out", {extent}, [&](const ir::Exprs& index) {
    return te::at(in, index) + te::at(in, index);
  });
  return std::make_shared<const Computation>(Computation{{in}, {out}});
}

// A chain of operators with these names; each doubles its input.
Graph chain(const std::vector<std::string>& ops) {
  Graph graph = testing::empty_graph();
  graph.target = ir::parse_target("opencl", {});
  TensorId last = graph.add_input("x of " + ops.front(), ir::kFloat32, {4});
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const TensorId next = graph.add_edge(ops.front() + std::to_string(i), ir::kFloat32, {4});
    Node& node = graph.nodes.emplace_back(Node{std::to_string(i), ops[i], {last}, {next}});
    node.pattern = Pattern::Elementwise;
    node.computation = doubling(ir::kFloat32, 4);
    last = next;
  }
  graph.mark_output(last);
  return graph;
}

TEST(Task, TextRoundTrips) {
  const Task task = parse_task(kText, "task.tl");
  EXPECT_EQ(to_string(task), kText);
  EXPECT_EQ(task.operands[1], OperandStorage::Constant);
  EXPECT_FALSE(task.textures);
}

// Stored measurements refer to a task's identity, so a change of the text form would lose them.
TEST(Task, IdentityIsThatOfEarlierVersions) {
  EXPECT_EQ(identity(parse_task(kText, "task.tl")), "1d669ab6b612912ac097baeb9c0aaa51");
}

TEST(Task, IdentityTellsTypesExtentsStoragesAndTargetsApart) {
  const Task task{doubling(ir::kFloat32, 4),
                  {OperandStorage::RowMajor, OperandStorage::Any},
                  false,
                  ir::parse_target("opencl", {})};
  std::vector<Task> others(5, task);
  others[0].computation = doubling(ir::Type::f(16), 4);
  others[1].computation = doubling(ir::kFloat32, 8);
  others[2].operands[1] = OperandStorage::RowMajor;
  others[3].textures = true;
  others[4].target = ir::parse_target("opencl -device=adreno", {});
  for (const Task& other : others) EXPECT_NE(identity(other), identity(task)) << to_string(other);
}

// A record is of the processor that "native" meant where it was made.
TEST(Task, IdentityNamesTheProcessor) {
  if (!codegen::native::plugin_state().problem.empty()) GTEST_SKIP() << "no LLVM plug-in";
  const auto on = [](const ir::Target& target) {
    return identity(Task{
        doubling(ir::kFloat32, 4), {OperandStorage::RowMajor, OperandStorage::Any}, false, target});
  };
  const ir::Target native = ir::parse_target("llvm -mcpu=native", {});
  const ir::Target named = codegen::native::with_named_processor(native);
  EXPECT_NE(named.machine.cpu, "native");
  EXPECT_THAT(named.machine.triple, ::testing::HasSubstr("linux"));
  EXPECT_THAT(named.machine.features, ::testing::StartsWith("+"));
  EXPECT_EQ(on(native), on(named));
  EXPECT_NE(on(native), on(ir::parse_target("llvm", {})));
  const ir::Target other = ir::parse_target("cortex-a76", {});
  EXPECT_EQ(codegen::native::with_named_processor(other), other);
}

TEST(Task, IdentityHasNoNamesOfTheGraph) {
  const Graph a = chain({"Double", "Double"}), b = chain({"Other", "Twice"});
  EXPECT_EQ(identity(task_of(a, a.nodes[1], {})), identity(task_of(b, b.nodes[1], {})));
}

TEST(Task, TextWithAnotherNumberOfOperandsIsRefused) {
  std::string text = kText;
  text.replace(text.find("row_major, "), 11, "");
  try {
    parse_task(text, "task.tl");
    FAIL() << "was read";
  } catch (const UserError& error) {
    const Diagnostic& d = error.diagnostics().front();
    EXPECT_THAT(d.message, ::testing::HasSubstr("operands, but its computation"));
    EXPECT_EQ(*d.location.file, "task.tl");
    EXPECT_EQ(d.location.line, 1);
  }
}

// A placeholder that is no input would be a tensor without values.
TEST(Task, PlaceholderThatIsNoInputIsRefusedAtItsName) {
  std::string text = kText;
  text.replace(text.find("in0, in1)"), 9, "in0)");
  try {
    parse_task(text, "task.tl");
    FAIL() << "was read";
  } catch (const UserError& error) {
    const Diagnostic& d = error.diagnostics().front();
    EXPECT_EQ(d.message, "in1 is a placeholder, but not among the inputs");
    EXPECT_EQ(d.location.line, 5);
  }
}

// A chain of four operators: the first reads the graph's input, the last writes the graph's output.
TEST(ScheduleOperators, CallsTheSchedulerOnceForEachTask) {
  Graph graph = chain({"Double", "Double", "Twice", "Double"});
  std::vector<std::string> first;
  const auto counts = schedule_operators(
      graph, {},
      [&](const Task&, const Node& node) {
        first.push_back(node.name);
        return std::vector{Alternative{"global", testing::sum({4}, {"global", "global"})}};
      },
      [](std::size_t, std::size_t) {});
  EXPECT_EQ(first, (std::vector<std::string>{"0", "1", "3"}));
  std::vector<std::size_t> sizes;
  for (const auto& [text, count] : counts) sizes.push_back(count);
  EXPECT_THAT(sizes, ::testing::UnorderedElementsAre(1, 2, 1));
  // Kernels are named after their operators, and equal kernels are shared.
  const auto program = [&](std::size_t n) { return graph.nodes[n].alternatives.front().program; };
  EXPECT_EQ(program(1)->program.name, "Double");
  EXPECT_EQ(program(2)->program.name, "Twice");
}

// Names of kernels are ASCII, wherever the schedules come from.
TEST(ScheduleOperators, NamesKernelsAfterOperators) {
  const auto name_of = [](std::string_view op) {
    return named_after(op, {Alternative{"global", testing::sum({4}, {"global", "global"})}})
        .front()
        .program->program.name;
  };
  EXPECT_EQ(name_of("Conv+Relu"), "Conv_Relu");
  EXPECT_EQ(name_of("größe"), "node");
  EXPECT_EQ(name_of("2d"), "node");
}

}  // namespace
}  // namespace texloom::graph
