// Tests for which operators the library is asked, and that only their computations change.
#include "graph/passes/multiply_halves.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/text/text.h"
#include "graph/verify/verify.h"

namespace texloom::graph {
namespace {

constexpr auto kText = R"(program kernels stage=graph target="opencl"
  input x: float32[8]
  edge h: float16[8]
  edge y: float32[8]
  edge z: float32[8]
  outputs (y, z)
  operator h op="Neg" pattern=elementwise computation=0 (x) -> (h)
  operator y op="attention" pattern=opaque computation=1 (h) -> (y)
  operator z op="attention" pattern=opaque computation=1 (x) -> (z)

computation 0 (in0) -> (negative)
placeholder in0: float32[8]
compute negative(i < 8): float32 = 0.0 - in0[i]

computation 1 (in0) -> (kernel)
placeholder in0: float32[8]
compute kernel(i < 8): float32 = in0[i] + 1.0
)";

// The graph, whose nodes y and z are attention with this scale.
Graph attention_of(double scale) {
  AttentionParts parts;
  parts.scale = scale;
  Graph graph = parse_graph(kText, "kernels");
  for (const std::size_t i : {1, 2}) {
    Computation computation = *graph.nodes[i].computation;
    computation.attention = std::make_shared<const AttentionParts>(parts);
    graph.nodes[i].computation = std::make_shared<const Computation>(std::move(computation));
  }
  return graph;
}

TEST(MultiplyHalves, ReplacesTheComputationsOfAttentionWithHalves) {
  Graph graph = attention_of(3);
  const SharedComputation made = graph.nodes.front().computation;
  std::vector<double> scales;
  std::vector<std::vector<ir::Type>> asked;
  const KernelLibrary kernels = {
      .attention = [&](const AttentionParts& parts, const std::vector<ir::Type>& stored) {
        scales.push_back(parts.scale);
        asked.push_back(stored);
        return std::optional(made);
      }};
  const std::vector<Node> before = graph.nodes;
  multiply_halves(graph, graph.target, kernels);
  verify(graph);
  EXPECT_EQ(scales, std::vector{3.0});
  EXPECT_EQ(asked, (std::vector<std::vector<ir::Type>>{{ir::Type::f(16)}}));
  EXPECT_EQ(graph.nodes[1].computation, made);
  EXPECT_EQ(graph.nodes[1].inputs, before[1].inputs);
  EXPECT_EQ(graph.nodes[2].computation, before[2].computation);
}

TEST(MultiplyHalves, KeepsWhatTheLibraryDeclines) {
  Graph graph = attention_of(1);
  const std::string before = to_string(graph);
  const KernelLibrary kernels = {
      .attention = [](const auto&, const auto&) { return std::optional<SharedComputation>(); }};
  multiply_halves(graph, graph.target, kernels);
  EXPECT_EQ(to_string(graph), before);
}

// The library knows attention by its parts, which other operators do not have.
TEST(MultiplyHalves, KeepsOtherOperators) {
  Graph graph = parse_graph(kText, "kernels");
  const std::vector<Node> before = graph.nodes;
  const KernelLibrary kernels = {.attention = [&](const auto&, const auto&) {
    return std::optional(graph.nodes.front().computation);
  }};
  multiply_halves(graph, graph.target, kernels);
  EXPECT_EQ(graph.nodes[1].computation, before[1].computation);
}

}  // namespace
}  // namespace texloom::graph
