// Tests the computations of fused operators, and of tensors that are stored in narrower types.
#include "graph/compose.h"

#include <gtest/gtest.h>

#include <string>

#include "graph/passes/fuse.h"
#include "graph/text/computation_text.h"
#include "graph/text/text.h"

namespace texloom::graph {
namespace {

// y = relu(x + x) of [n, 4], where n is a symbol of the graph.
constexpr const char* kDoubled = R"(program net stage=graph target="opencl"
  symbol n
  input x: float32["n", 4]
  edge a: float32["n", 4]
  edge y: float32["n", 4]
  outputs (y)
  operator a op="Double" pattern=elementwise computation=0 (x) -> (a)
  operator y op="Relu" pattern=elementwise computation=1 (a) -> (y)

computation 0 (in0) -> (twice)
  symbol s: int32
placeholder in0: float32[s, 4]
compute twice(i < s, j < 4): float32 = in0[i, j] + in0[i, j]

computation 1 (in0) -> (relu)
  symbol t: int32
placeholder in0: float32[t, 4]
compute relu(i < t, j < 4): float32 = max(in0[i, j], 0.0)
)";

TEST(Compose, OutputsTakeThePlaceOfPlaceholders) {
  Graph graph = parse_graph(kDoubled, "net.tl");
  fuse(graph);
  ASSERT_EQ(graph.nodes.size(), 1);
  // Both members of the fused operator use the symbol of the only input.
  EXPECT_EQ(to_string(*composed(graph, graph.nodes.front()), 0), R"(computation 0 (in0) -> (relu)
  symbol _s0: int32

placeholder in0: float32[_s0, 4]

compute twice(i < _s0, j < 4): float32 = in0[i, j] + in0[i, j]

compute relu(i < _s0, j < 4): float32 = max(twice[i, j], 0.0)
)");
}

TEST(Compose, ComposedTwiceIsEqual) {
  Graph graph = parse_graph(kDoubled, "net.tl");
  fuse(graph);
  const SharedComputation again = composed(graph, graph.nodes.front());
  EXPECT_TRUE(equal(*graph.nodes.front().computation, *again));
  EXPECT_EQ(structural_hash(*graph.nodes.front().computation), structural_hash(*again));
}

TEST(Compose, MembersWithoutAComputationHaveNone) {
  Graph graph = parse_graph(kDoubled, "net.tl");
  fuse(graph);
  graph.nodes.front().members.front().computation = nullptr;
  EXPECT_EQ(composed(graph, graph.nodes.front()), nullptr);
}

// Elements are widened when they are read, and rounded once.
TEST(Compose, NarrowTensorsAreComputedInTheTypeOfTheArithmetic) {
  Graph graph = parse_graph(kDoubled, "net.tl");
  for (Tensor& tensor : graph.tensors) tensor.type = ir::Type::f(16);
  const std::string text = to_string(*computation_as_stored(graph, graph.nodes.front()), 0);
  EXPECT_NE(text.find("placeholder in0: float16[s, 4]"), std::string::npos) << text;
  EXPECT_NE(text.find("compute widened(i0 < s, i1 < 4): float32 = float32(in0[i0, i1])"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("compute rounded(i0 < s, i1 < 4): float16 = float16(twice[i0, i1])"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace texloom::graph
