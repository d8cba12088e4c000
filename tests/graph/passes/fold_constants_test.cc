// Tests the values of folded constants.
#include "graph/passes/fold_constants.h"

#include <gtest/gtest.h>

#include "graph/text/text.h"
#include "tests/graph/constants.h"

namespace texloom::graph {
namespace {

using testing::find_tensor;
using testing::Floats;
using testing::set_values;
using testing::values_of;

// y = x * sqrt(c)
constexpr const char* kRoot = R"(program net stage=graph target="opencl"
  input x: float32[2]
  constant c: float32[2]
  edge s: float32[2]
  edge y: float32[2]
  outputs (y)
  operator s op="Sqrt" pattern=elementwise computation=0 (c) -> (s)
  operator y op="Mul" pattern=elementwise computation=1 (x, s) -> (y)

computation 0 (in0) -> (root)
placeholder in0: float32[2]
compute root(i < 2): float32 = sqrt(in0[i])

computation 1 (in0, in1) -> (product)
placeholder in0: float32[2]
placeholder in1: float32[2]
compute product(i < 2): float32 = in0[i] * in1[i]
)";

TEST(FoldConstants, ComputesOperatorsOfConstants) {
  Graph graph = parse_graph(kRoot, "net.tl");
  set_values(graph, "c", {4, 9});
  fold_constants(graph);
  ASSERT_EQ(graph.nodes.size(), 1);
  EXPECT_EQ(find_tensor(graph, "s")->role, TensorRole::Constant);
  EXPECT_EQ(values_of(graph, "s"), (Floats{2, 3}));
  EXPECT_EQ(find_tensor(graph, "c"), nullptr);  // nothing reads it
}

TEST(FoldConstants, KeepsConstantsWithoutValues) {
  Graph graph = parse_graph(kRoot, "net.tl");
  fold_constants(graph);
  EXPECT_EQ(graph.nodes.size(), 2);
}

}  // namespace
}  // namespace texloom::graph
