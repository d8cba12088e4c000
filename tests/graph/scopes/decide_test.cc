// Tests the limits on the choice of storages, and which textures are given up.
#include "graph/scopes/decide.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "graph/compile_graph.h"
#include "tests/graph/small_graphs.h"

namespace texloom::graph {
namespace {

using schedule::testing::faults;
using testing::add_sum;
using testing::Choices;
using testing::empty_graph;
using testing::kTexture;

const Choices kEither = {{{{"global"}, 0}, {{"texture"}, 0}}};
constexpr std::uint64_t kBytes = 16 * 16 * 4 * 4;  // of a tensor, in a buffer and in a texture

TensorId add_input(Graph& graph, const Shape& shape = {16, 16, 4}) {
  return graph.add_input("x", ir::kFloat32, shape);
}

// A node over buffers costs 100, any other node costs `texture`, and a conversion costs 1.
GraphOptions with_costs(double texture) {
  GraphOptions options;
  options.costs = [=](const SiteFacts& facts) {
    const double ns = facts.kind == "convert" ? 1 : facts.textures > 0 ? texture : 100;
    return SiteCost{ns, std::string(facts.signature)};
  };
  return options;
}

CompiledGraph compiled(Graph graph, const GraphOptions& options) {
  for (Node& node : graph.nodes) {
    for (Alternative& alternative : node.alternatives) alternative.cost.reset();
  }
  return compile_graph(graph, options);
}

std::string chosen(const CompiledGraph& graph) {
  std::string text;
  for (const auto& node : graph.summary.nodes) text += node.alternative + " ";
  return text;
}

Graph chain(const Choices& first, const Choices& second, const Choices& third) {
  Graph graph = empty_graph();
  const TensorId a = add_sum(graph, "a", {add_input(graph)}, first);
  graph.mark_output(add_sum(graph, "c", {add_sum(graph, "b", {a}, second)}, third));
  return graph;
}

TEST(Decide, TexturesThatGainTooLittleAreGivenUp) {
  const Graph graph = chain(kEither, kEither, kEither);
  EXPECT_EQ(chosen(compiled(graph, with_costs(90))), "texture texture texture ");
  const CompiledGraph buffers = compiled(graph, with_costs(98));
  EXPECT_EQ(chosen(buffers), "global global global ");
  EXPECT_NEAR(buffers.summary.small_gain.value_or(0), 0.02, 1e-9);
  EXPECT_NE(to_string(buffers.summary).find("2.0 % faster"), std::string::npos);
  // The rejected textures stay part of the problem and of its lower bound.
  EXPECT_EQ(buffers.summary.cost, 300);
  EXPECT_EQ(buffers.summary.lower_bound, 294);
  EXPECT_EQ(choose(buffers.scopes.problem).cost, 294);
  EXPECT_EQ(cost_of(buffers.scopes.problem, buffers.scopes.choice.options), 300);
  GraphOptions any_gain = with_costs(98);
  any_gain.rules.least_gain = 0;
  EXPECT_EQ(chosen(compiled(graph, any_gain)), "texture texture texture ");
}

// If the nodes allow no buffers, there are no textures to give up.
TEST(Decide, TexturesThatNodesNeedStay) {
  const CompiledGraph made = compiled(chain(kTexture, kTexture, kTexture), with_costs(98));
  EXPECT_EQ(made.summary.small_gain, std::nullopt);
}

// Between buffers, the texture of the middle node would need two conversions, and more memory.
TEST(Decide, TexturesStayIfBuffersExceedTheLimitOfMemory) {
  const Graph graph = chain(kEither, kTexture, kEither);
  GraphOptions options = with_costs(100);
  options.rules.max_live_bytes = 2 * kBytes;
  EXPECT_EQ(chosen(compiled(graph, options)), "texture texture texture ");
}

// A search limited to one partial choice keeps the cheaper one, whose padded texture exceeds the
// limit of memory.
TEST(Decide, SaysWhetherALimitIsTooLowOrTheSearchTooShort) {
  Graph graph = empty_graph();
  const TensorId x = add_input(graph, {16, 16, 1});
  const TensorId a = add_sum(graph, "a", {x}, {{{{"global", "texture"}, 10}, {{"global"}, 20}}});
  graph.mark_output(
      add_sum(graph, "b", {a, x}, {{{{"texture", "global", "global"}, 10}, {{"global"}, 10}}}));
  GraphOptions options;
  options.rules.max_live_bytes = 5200;
  EXPECT_EQ(chosen(compile_graph(graph, options)), "global global ");
  options.rules.max_partial = 1;
  EXPECT_EQ(faults([&] { compile_graph(graph, options); }),
            "TL3041 nowhere: no choice of storages for 'net' was found within 5200 bytes: there "
            "are too many choices to try all");
  options.rules.max_live_bytes = 100;
  EXPECT_EQ(faults([&] { compile_graph(graph, options); }),
            "TL3041 nowhere: 100 bytes are too few for the tensors of 'net' that are live at once, "
            "in any choice of storages");
}

TEST(Decide, RefusesALimitOfMemoryThatEachRunDecides) {
  Graph graph = empty_graph();
  graph.symbols = {"n"};
  const TensorId x = add_input(graph, {Size::symbol(0), 4});
  graph.mark_output(testing::add_concatenation(graph, "y", {x, x}, 1));
  GraphOptions options;
  EXPECT_EQ(compile_graph(graph, options).summary.nodes.size(), 1U);
  options.rules.max_live_bytes = 1;
  EXPECT_EQ(faults([&] { compile_graph(graph, options); }),
            "TL3041 nowhere: the memory limit of 1 bytes cannot be checked for the graph 'net', "
            "because the sizes of its tensors differ from run to run");
}

TEST(Decide, RefusesCostsThatAreInfinite) {
  Graph graph = chain(kEither, kEither, kEither);
  GraphOptions options;
  options.costs = [](const SiteFacts&) {
    return SiteCost{std::numeric_limits<double>::infinity()};
  };
  EXPECT_EQ(faults([&] { compiled(graph, options); }),
            "TL3041 nowhere: no choice of storages for 'net' has a finite cost");
  graph.nodes.front().alternatives.front().cost = std::numeric_limits<double>::infinity();
  EXPECT_EQ(faults([&] { compile_graph(graph, {}); }),
            "TL3040 nowhere: the alternative 'global' of the node 'a' costs inf");
}

// The options of a concatenation are no alternatives of its node, but can be fixed by name, too.
TEST(Decide, AConcatenationIsFixedByItsName) {
  Graph graph = empty_graph();
  const TensorId x = add_input(graph);
  const TensorId a = add_sum(graph, "a", {x}, kEither), b = add_sum(graph, "b", {a}, kEither);
  const TensorId c = testing::add_concatenation(graph, "c", {a, b}, 0);
  graph.mark_output(add_sum(graph, "d", {c}, kEither));
  for (const std::string name : {"copy", "in place"}) {
    GraphOptions options;
    options.rules.fixed = {"", "", name, ""};
    EXPECT_EQ(compile_graph(graph, options).summary.nodes[2].alternative, name);
  }
}

}  // namespace
}  // namespace texloom::graph
