// Tests the limit on the number of storages in which nodes may want one tensor.
#include "graph/scopes/offers.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "graph/scopes/choice_problem.h"
#include "graph/verify/verify.h"
#include "schedule/storage.h"
#include "tests/graph/small_graphs.h"

namespace texloom::graph {
namespace {

const ir::Shape kOfferedShape = {2, 2, 2, 2, 2};

// A graph of nodes that read `tensor`, each in a layout of its own: the axes in another order.
void add_readers(Graph& graph, TensorId tensor, std::size_t count) {
  std::vector<std::string> axes = {"a", "b", "c", "d", "e"};
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = "n" + std::to_string(i);
    const TensorId output = testing::add_sum(graph, name, {tensor}, {{{{"global"}, 10}}});
    auto program =
        std::make_shared<lower::Lowering>(*graph.nodes.back().alternatives.front().program);
    const std::string layout = fmt::format(
        "buffer[(a, b, c, d, e) -> rows=(), cols=({}), lanes=()]", fmt::join(axes, ", "));
    program->arguments[0].declaration->layout =
        schedule::parse_storage("global", layout, kOfferedShape, {}).layout;
    graph.nodes.back().alternatives.front().program = std::move(program);
    graph.mark_output(output);
    ASSERT_TRUE(std::next_permutation(axes.begin(), axes.end()));
  }
}

Offers offers_of(const Graph& graph) {
  CompiledSites compiled;
  CallSites sites({}, [] {}, compiled);
  const CostModel model;
  const CostSource source;
  SiteCosts costs(graph, model, source, sites);
  return collect_offers(graph, StoragePreference::Any, costs, 64, {});
}

Choice choice_for(const Graph& graph) {
  verify(graph);
  return choose(choice_problem(graph, offers_of(graph), {}));
}

Graph graph_with_readers(std::size_t count) {
  Graph graph;
  graph.name = "net";
  add_readers(graph,
              graph.add_input("x", ir::kFloat32, {kOfferedShape.begin(), kOfferedShape.end()}),
              count);
  return graph;
}

TEST(Offers, ATensorMayHaveAsManyStoragesAsTheSearchHolds) {
  EXPECT_EQ(choice_for(graph_with_readers(kMaxStorages)).options.size(), kMaxStorages + 1);
  EXPECT_EQ(schedule::testing::faults([] { choice_for(graph_with_readers(kMaxStorages + 1)); }),
            "TL3041 nowhere: the node 'n32' wants 'x' in global buffer[(d0, d1, d2, d3, d4) -> "
            "cols=(d1, d2, d3, d0, d4)], but other nodes already want it in 32 storages, the most "
            "that a tensor can have");
}

// A constant is packed for each reader, so its storage needs no choice.
TEST(Offers, AConstantMayHaveMore) {
  Graph graph;
  graph.name = "net";
  const TensorId w =
      graph.add_constant("w", ir::kFloat32, {kOfferedShape.begin(), kOfferedShape.end()}, nullptr);
  add_readers(graph, w, kMaxStorages + 8);
  const Offers offers = offers_of(graph);
  EXPECT_EQ(offers.storages[w].size(), kMaxStorages + 8);
  EXPECT_EQ(choice_for(graph).options.size(), kMaxStorages + 8);
}

}  // namespace
}  // namespace texloom::graph
