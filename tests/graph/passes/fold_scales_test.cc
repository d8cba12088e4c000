// Tests the weights into which factors are folded; tests/python/onnx tests the other forms.
#include "graph/passes/fold_scales.h"

#include <gtest/gtest.h>

#include "graph/text/text.h"
#include "tests/graph/constants.h"

namespace texloom::graph {
namespace {

using testing::Floats;
using testing::set_values;
using testing::values_of;

// y = (x @ w) * c, with a factor for each column.
constexpr const char* kScaled = R"(program net stage=graph target="opencl"
  input x: float32[3, 2]
  constant w: float32[2, 2]
  constant c: float32[2]
  edge p: float32[3, 2]
  edge y: float32[3, 2]
  outputs (y)
  operator p op="MatMul" pattern=contraction computation=0 (x, w) -> (p)
  operator y op="Mul" pattern=broadcast computation=1 (p, c) -> (y)

computation 0 (in0, in1) -> (sums)
  reducer sum(lhs, rhs): float32 = lhs + rhs, identity=0.0
placeholder in0: float32[3, 2]
placeholder in1: float32[2, 2]
compute sums(i < 3, j < 2): float32 = reduce(sum, [k < 2], in0[i, k] * in1[k, j])

computation 1 (in0, in1) -> (product)
placeholder in0: float32[3, 2]
placeholder in1: float32[2]
compute product(i < 3, j < 2): float32 = in0[i, j] * in1[j]
)";

TEST(FoldScales, FactorsOfColumnsGoIntoTheWeights) {
  Graph graph = parse_graph(kScaled, "net.tl");
  set_values(graph, "w", {1, 2, 3, 4});
  set_values(graph, "c", {10, 100});
  fold_scales(graph);
  ASSERT_EQ(graph.nodes.size(), 1);
  EXPECT_EQ(graph.nodes.front().outputs, graph.outputs);
  EXPECT_EQ(values_of(graph, "w"), (Floats{10, 200, 30, 400}));
}

// Infinite weights would make NaN of zeros.
TEST(FoldScales, WeightsStayFinite) {
  Graph graph = parse_graph(kScaled, "net.tl");
  set_values(graph, "w", {1e38F, 2, 3, 4});
  set_values(graph, "c", {10, 100});
  fold_scales(graph);
  EXPECT_EQ(graph.nodes.size(), 2);
}

}  // namespace
}  // namespace texloom::graph
