// Tests for which operators the library is asked, and that only their computations change.
#include "graph/passes/multiply_halves.h"

#include <gtest/gtest.h>

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

TEST(MultiplyHalves, ReplacesTheComputationsOfKernelsWithHalves) {
  Graph graph = parse_graph(kText, "kernels");
  const SharedComputation made = graph.nodes.front().computation;
  std::vector<std::vector<ir::Type>> asked;
  const KernelLibrary kernels = {
      .product_of_halves = [&](const SharedComputation&, const std::vector<ir::Type>& stored) {
        asked.push_back(stored);
        return std::optional(made);
      }};
  const std::vector<Node> before = graph.nodes;
  multiply_halves(graph, graph.target, kernels);
  verify(graph);
  EXPECT_EQ(asked, (std::vector<std::vector<ir::Type>>{{ir::Type::f(16)}}));
  EXPECT_EQ(graph.nodes[1].computation, made);
  EXPECT_EQ(graph.nodes[1].inputs, before[1].inputs);
  EXPECT_EQ(graph.nodes[2].computation, before[2].computation);
}

TEST(MultiplyHalves, KeepsWhatTheLibraryDeclines) {
  Graph graph = parse_graph(kText, "kernels");
  const std::string before = to_string(graph);
  const KernelLibrary kernels = {.product_of_halves = [](const auto&, const auto&) {
    return std::optional<SharedComputation>();
  }};
  multiply_halves(graph, graph.target, kernels);
  EXPECT_EQ(to_string(graph), before);
}

}  // namespace
}  // namespace texloom::graph
