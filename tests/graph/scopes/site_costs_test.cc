// Tests that the cost source is asked for the costs of exactly the call sites that are compiled.
#include "graph/scopes/site_costs.h"

#include <gtest/gtest.h>

#include <string>

#include "graph/compile_graph.h"
#include "tests/graph/small_graphs.h"

namespace texloom::graph {
namespace {

using testing::add_sum;
using testing::empty_graph;
using testing::kTexture;

const testing::Choices kBuffer = {{{{"global"}, 0}}};

TensorId add_plain_input(Graph& graph) { return graph.add_input("x", ir::kFloat32, {4, 8, 4}); }

// Compiles the graph with a cost source that knows all costs, and whose keys are signatures.
CompiledGraph compiled_with_signatures(Graph graph, bool may_fold = true) {
  for (Node& node : graph.nodes) {
    for (Alternative& alternative : node.alternatives) alternative.cost.reset();
  }
  GraphOptions options;
  options.may_fold = may_fold;
  options.costs = [](const SiteFacts& facts) {
    return SiteCost{facts.kind == "convert" ? 1.0 : 1e5, std::string(facts.signature)};
  };
  return compile_graph(graph, options);
}

// Expects that each run is priced by its own signature; `without_key` runs have no cost of their
// own.
void expect_costs_of_what_runs(const CompiledGraph& graph, std::size_t without_key = 0) {
  std::size_t missing = 0;
  for (const auto& run : graph.summary.runs) {
    missing += run.cost.key.empty() ? 1 : 0;
    if (!run.cost.key.empty()) {
      EXPECT_EQ(run.cost.key, run.signature) << run.what;
    }
  }
  EXPECT_EQ(missing, without_key);
}

// Estimates need the work of each kernel: here one, which reads and writes a texture.
TEST(SiteCosts, SourcesAreToldTheWorkOfKernels) {
  Graph graph = empty_graph();
  graph.mark_output(add_sum(graph, "y", {add_plain_input(graph)}, kTexture));
  for (Alternative& alternative : graph.nodes.front().alternatives) alternative.cost.reset();
  std::vector<SiteFacts> seen;
  GraphOptions options;
  options.costs = [&](const SiteFacts& facts) {
    if (facts.kind != "convert") seen.push_back(facts);
    return SiteCost{1.0};
  };
  compile_graph(graph, options);
  ASSERT_FALSE(seen.empty());
  ASSERT_EQ(seen.front().work.size(), 1U);
  EXPECT_EQ(seen.front().work.front().texture_bytes, 2 * 4 * 8 * 4 * 4);
  EXPECT_EQ(seen.front().work.front().buffer_bytes, 0);
}

// A texture that is converted from an input begins at the corner of its image.
TEST(SiteCosts, OfReadersOfAConvertedInput) {
  Graph graph = empty_graph();
  const TensorId x = add_plain_input(graph);
  const TensorId a = add_sum(graph, "a", {x}, kBuffer);
  const TensorId b = add_sum(graph, "b", {x}, kTexture);
  graph.mark_output(add_sum(graph, "c", {a, b}, kTexture));
  const CompiledGraph made = compiled_with_signatures(graph);
  EXPECT_EQ(made.summary.conversions.size(), 2U);
  expect_costs_of_what_runs(made);
}

TEST(SiteCosts, OfReadersOfAConvertedOutput) {
  Graph graph = empty_graph();
  const TensorId a = add_sum(graph, "a", {add_plain_input(graph)}, kBuffer);
  graph.mark_output(a);
  graph.mark_output(add_sum(graph, "b", {a}, kTexture));
  expect_costs_of_what_runs(compiled_with_signatures(graph));
}

// If one node needs a tensor in an image of its own, all nodes get the tensor in that image.
TEST(SiteCosts, OfReadersOfAnExactImage) {
  Graph graph = empty_graph();
  const TensorId a = add_sum(graph, "a", {add_plain_input(graph)}, kTexture);
  const TensorId b = add_sum(graph, "b", {a}, kTexture, true);
  graph.mark_output(add_sum(graph, "c", {a, b}, kTexture));
  expect_costs_of_what_runs(compiled_with_signatures(graph));
}

TEST(SiteCosts, OfConcatenationsAndConversions) {
  Graph graph = empty_graph();
  const TensorId x = add_plain_input(graph);
  const TensorId a = add_sum(graph, "a", {x}, kBuffer);
  const TensorId b = add_sum(graph, "b", {a}, kTexture);
  const TensorId c = testing::add_concatenation(graph, "c", {a, b}, 1);
  graph.mark_output(add_sum(graph, "d", {c}, kTexture));
  expect_costs_of_what_runs(compiled_with_signatures(graph));
}

// The cost of a folded site is derived from the plain site's cost, not measured.
TEST(SiteCosts, OfFoldedTextures) {
  Graph graph = empty_graph();
  for (const Shape& shape : {Shape{8, 64, 4}, Shape{8, 8, 8, 4}}) {
    const std::string name = "x" + std::to_string(shape.size());
    const TensorId x = graph.add_input(name, ir::kFloat32, shape);
    const TensorId a = add_sum(graph, name + ".a", {x}, kTexture);
    const TensorId b = add_sum(graph, name + ".b", {a}, kTexture);
    graph.mark_output(add_sum(graph, name + ".c", {b}, kTexture));
  }
  const CompiledGraph folded = compiled_with_signatures(graph);
  EXPECT_EQ(folded.summary.folds.size(), 2U);
  expect_costs_of_what_runs(folded, 3);
  const CompiledGraph plain = compiled_with_signatures(graph, false);
  EXPECT_TRUE(plain.summary.folds.empty());
  expect_costs_of_what_runs(plain);
}

}  // namespace
}  // namespace texloom::graph
