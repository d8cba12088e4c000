// Tests for which operators the library is asked, and that only their computations change.
#include "graph/passes/divide_moments.h"

#include <gtest/gtest.h>

#include <vector>

#include "graph/text/text.h"
#include "graph/verify/verify.h"

namespace texloom::graph {
namespace {

constexpr auto kText = R"(program sums stage=graph target="opencl"
  input x: float32[8]
  edge n: float32[8]
  edge y: float32[1]
  outputs (y)
  operator n op="Neg" pattern=elementwise computation=0 (x) -> (n)
  operator y op="Sum" pattern=reduction computation=1 (n) -> (y)

computation 0 (in0) -> (negative)
placeholder in0: float32[8]
compute negative(i < 8): float32 = 0.0 - in0[i]

computation 1 (in0) -> (sums)
  reducer sum(x, y): float32 = x + y, identity=0.0

placeholder in0: float32[8]
compute sums(i < 1): float32 = reduce(sum, [k < 8], in0[k])
)";

constexpr auto kInParts = R"(program sums stage=graph target="opencl"
  input x: float32[8]
  edge y: float32[1]
  outputs (y)
  operator y op="Sum" pattern=reduction computation=0 (x) -> (y)

computation 0 (in0) -> (sums)
  reducer sum(x, y): float32 = x + y, identity=0.0

placeholder in0: float32[8]
compute parts(i < 2): float32 = reduce(sum, [k < 4], in0[i * 4 + k])
compute sums(i < 1): float32 = reduce(sum, [k < 2], parts[k])
)";

TEST(DivideMoments, ReplacesTheComputationsOfReductions) {
  Graph graph = parse_graph(kText, "sums");
  const SharedComputation made = parse_graph(kInParts, "parts").nodes.front().computation;
  std::vector<SharedComputation> asked;
  const KernelLibrary kernels = {.moments_in_parts = [&](const SharedComputation& computation) {
    asked.push_back(computation);
    return std::optional(made);
  }};
  const std::vector<Node> before = graph.nodes;
  divide_moments(graph, graph.target, kernels);
  verify(graph);
  ASSERT_EQ(asked.size(), 1);
  EXPECT_EQ(asked.front(), before[1].computation);
  EXPECT_EQ(graph.nodes[0].computation, before[0].computation);
  EXPECT_EQ(graph.nodes[1].computation, made);
  EXPECT_EQ(graph.nodes[1].inputs, before[1].inputs);
}

TEST(DivideMoments, KeepsWhatTheLibraryDeclines) {
  Graph graph = parse_graph(kText, "sums");
  const std::string before = to_string(graph);
  const KernelLibrary kernels = {
      .moments_in_parts = [](const auto&) { return std::optional<SharedComputation>(); }};
  divide_moments(graph, graph.target, kernels);
  EXPECT_EQ(to_string(graph), before);
}

}  // namespace
}  // namespace texloom::graph
