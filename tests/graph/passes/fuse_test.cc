// Tests fusion on random graphs.
#include "graph/passes/fuse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "graph/passes/passes.h"
#include "graph/text/text.h"
#include "graph/verify/verify.h"

namespace texloom::graph {
namespace {

constexpr int kGraphs = 300;

// A graph of up to 40 operators. Each has any pattern, one of two shapes, and up to three inputs.
// Unlike in graphs of real computations, the reads of an operator may contradict its pattern.
Graph random_graph(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t end) { return random() % end; };
  Graph graph;
  graph.name = "random";
  const std::vector<Shape> shapes = {{4, 8}, {8, 4}};
  for (int i = 0; i < 3; ++i)
    graph.add_input("x" + std::to_string(i), ir::Type::f(32), shapes[below(2)]);
  const std::size_t count = 1 + below(40);
  for (std::size_t n = 0; n < count; ++n) {
    Node node;
    node.name = "n" + std::to_string(n);
    node.op = "op" + std::to_string(below(3));
    node.pattern = static_cast<Pattern>(below(6));
    const Shape& shape = shapes[below(2)];
    for (std::size_t i = 0, inputs = 1 + below(3); i < inputs; ++i) {
      const auto id = static_cast<TensorId>(below(graph.tensors.size()));
      const bool fits = *node.pattern != Pattern::Elementwise || graph.tensors[id].shape == shape;
      if (fits) node.inputs.push_back(id);
    }
    node.outputs = {graph.add_edge(node.name, ir::Type::f(32), shape)};
    graph.nodes.push_back(std::move(node));
  }
  graph.mark_output(graph.nodes.back().outputs.front());
  for (const Node& node : graph.nodes) {
    const TensorId id = node.outputs.front();
    if (graph.tensors[id].role == TensorRole::Intermediate && below(6) == 0) graph.mark_output(id);
  }
  return graph;
}

// Calls a function with each operator that is not fused, and each member of a fused operator.
template <class F>
void for_each_single(const Graph& graph, const F& use) {
  for (const Node& node : graph.nodes) {
    if (node.members.empty()) use(node);
    for (const Node& member : node.members) use(member);
  }
}

std::map<std::string, std::vector<TensorId>> reads_by_name(const Graph& graph) {
  std::map<std::string, std::vector<TensorId>> reads;
  for_each_single(graph, [&](const Node& node) { reads.emplace(node.name, node.inputs); });
  return reads;
}

// No member is lost, computed twice or reconnected; bounds hold; the graph's text round-trips.
TEST(Fuse, KeepsAllOperatorsOfRandomGraphs) {
  std::size_t fused = 0;
  for (unsigned seed = 0; seed < kGraphs; ++seed) {
    Graph graph = random_graph(seed);
    verify(graph);
    const auto before = reads_by_name(graph);
    fuse(graph);
    ASSERT_NO_THROW(verify(graph)) << seed;
    EXPECT_EQ(reads_by_name(graph), before) << seed;
    EXPECT_EQ(to_string(parse_graph(to_string(graph), "random.tl")), to_string(graph));
    for (const Node& node : graph.nodes) {
      if (node.members.empty()) continue;
      ++fused;
      EXPECT_LE(node.members.size(), kMostMembers);
      EXPECT_LE(node.inputs.size() + node.outputs.size(), kMostTensors);
      const auto heavy =
          std::count_if(node.members.begin(), node.members.end(), [](const Node& member) {
            return *member.pattern == Pattern::Reduction || *member.pattern == Pattern::Contraction;
          });
      EXPECT_LE(heavy, 1) << seed;
    }
  }
  EXPECT_GT(fused, kGraphs / 4U);  // enough operators are fused to test fusion
}

// A second run of the pass adds no members to fused operators, and removes none.
TEST(Fuse, ASecondTimeChangesNoMembers) {
  for (unsigned seed = 0; seed < kGraphs; ++seed) {
    Graph graph = random_graph(seed);
    fuse(graph);
    std::map<std::string, std::size_t> members;
    for (const Node& node : graph.nodes) {
      if (!node.members.empty()) members[node.name] = node.members.size();
    }
    fuse(graph);
    for (const Node& node : graph.nodes) {
      const auto found = members.find(node.name);
      if (found == members.end()) continue;
      EXPECT_EQ(node.members.size(), found->second) << seed;
    }
  }
}

// A refused join changes nothing. A successful join keeps all members and the tensors they read.
TEST(Join, KeepsAllOperatorsOfRandomGraphs) {
  std::size_t joined = 0;
  for (unsigned seed = 0; seed < kGraphs; ++seed) {
    Graph graph = random_graph(seed);
    fuse(graph);
    const auto before = reads_by_name(graph);
    for (std::size_t reader = graph.nodes.size(); reader-- > 0;) {
      const std::string text = to_string(graph);
      bool found = false;
      for (std::size_t producer = 0; producer < reader && !found; ++producer) {
        found = join(graph, producer, reader);
      }
      if (found) {
        ++joined;
        ASSERT_NO_THROW(verify(graph)) << seed;
      } else {
        ASSERT_EQ(to_string(graph), text) << seed;
      }
    }
    EXPECT_EQ(reads_by_name(graph), before) << seed;
  }
  EXPECT_GT(joined, kGraphs / 4U);
}

// All passes, one after another, keep the inputs and the outputs of the graph.
TEST(GraphPasses, KeepInputsAndOutputs) {
  for (unsigned seed = 0; seed < kGraphs; ++seed) {
    Graph graph = random_graph(seed);
    const auto names = [&](const std::vector<TensorId>& list) {
      std::vector<std::string> result;
      for (const TensorId id : list) result.push_back(graph.tensors[id].name);
      return result;
    };
    const auto inputs = names(graph.inputs), outputs = names(graph.outputs);
    std::vector<std::string> all;
    for (const GraphPass& pass : graph_passes()) all.emplace_back(pass.name);
    const auto reports = run_graph_passes(graph, all, {});
    EXPECT_EQ(names(graph.inputs), inputs);
    EXPECT_EQ(names(graph.outputs), outputs);
    EXPECT_EQ(reports.back().nodes_after, graph.nodes.size());
  }
}

}  // namespace
}  // namespace texloom::graph
