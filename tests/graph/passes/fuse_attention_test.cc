// Tests how attention's scale is found; tests/lit tests the other forms of attention.
#include "graph/passes/fuse_attention.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "graph/text/text.h"

namespace texloom::graph {
namespace {

void give_value(Tensor& constant, float number) {
  std::vector<std::byte> bytes(sizeof number);
  std::memcpy(bytes.data(), &number, sizeof number);
  constant.value = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

// Attention whose scores `expression` scales: "in0[i, j] * in1[]" multiplies them by `number`.
// The operator's pattern, reduction, allows every expression of this file.
Graph scaled_scores(const std::string& expression, float number) {
  Graph graph = parse_graph(R"(program scaled stage=graph target="opencl"
  input q: float32[4, 8]
  input k: float32[8, 16]
  input v: float32[16, 8]
  constant n: float32[]
  edge s: float32[4, 16]
  edge a: float32[4, 16]
  edge w: float32[4, 16]
  edge y: float32[4, 8]
  outputs (y)
  operator s op="matmul" pattern=contraction (q, k) -> (s)
  operator a op="scale" pattern=reduction computation=0 (s, n) -> (a)
  operator w op="softmax" pattern=reduction (a) -> (w)
  operator y op="matmul" pattern=contraction (w, v) -> (y)

computation 0 (in0, in1) -> (scaled)
placeholder in0: float32[4, 16]
placeholder in1: float32[]
compute scaled(i < 4, j < 16): float32 = )" +
                                expression,
                            "scaled.tl");
  give_value(graph.tensors[3], number);
  return graph;
}

// The scales for which the pass asks the kernel library, which has a kernel for every scale.
std::vector<double> scales_of(Graph graph) {
  std::vector<double> scales;
  const KernelLibrary kernels = {.attention = [&](const AttentionParts& parts, const auto&) {
    scales.push_back(parts.scale);
    return SharedComputation();
  }};
  fuse_attention(graph, graph.target, kernels);
  return scales;
}

TEST(FuseAttention, FactorsAndDivisorsAreScales) {
  EXPECT_EQ(scales_of(scaled_scores("in0[i, j] * in1[]", 0.25F)), std::vector{0.25});
  EXPECT_EQ(scales_of(scaled_scores("in0[i, j] / in1[]", 8)), std::vector{0.125});
}

// Division by zero, a difference, and elements at other indices do not scale the scores.
TEST(FuseAttention, OtherExpressionsAreNoScales) {
  for (const char* expression : {"in0[i, j] / in1[]", "in0[i, j] - in1[]", "in0[3 - i, j] * in1[]"})
    EXPECT_TRUE(scales_of(scaled_scores(expression, 0)).empty()) << expression;
}

// Attention whose weights are `constant` where `test` holds of themselves.
std::vector<bool> hiding_of(const std::string& test, float constant) {
  Graph graph = parse_graph(R"(program hidden stage=graph target="opencl"
  input q: float32[4, 8]
  input k: float32[8, 16]
  input v: float32[16, 8]
  constant n: float32[]
  edge s: float32[4, 16]
  edge w: float32[4, 16]
  edge t: bool[4, 16]
  edge h: float32[4, 16]
  edge y: float32[4, 8]
  outputs (y)
  operator s op="matmul" pattern=contraction (q, k) -> (s)
  operator w op="softmax" pattern=reduction (s) -> (w)
  operator t op="test" pattern=reduction computation=0 (w) -> (t)
  operator h op="where" pattern=broadcast computation=1 (t, n, w) -> (h)
  operator y op="matmul" pattern=contraction (h, v) -> (y)

computation 0 (in0) -> (test)
placeholder in0: float32[4, 16]
compute test(i < 4, j < 16): bool = )" +
                                test + R"(

computation 1 (in0, in1, in2) -> (where)
placeholder in0: bool[4, 16]
placeholder in1: float32[]
placeholder in2: float32[4, 16]
compute where(i < 4, j < 16): float32 = select(in0[i, j], in1[], in2[i, j])
)",
                            "hidden.tl");
  give_value(graph.tensors[3], constant);
  std::vector<bool> found;
  const KernelLibrary kernels = {.attention = [&](const AttentionParts& parts, const auto&) {
    found.push_back(parts.hides_nan);
    return SharedComputation();
  }};
  fuse_attention(graph, graph.target, kernels);
  return found;
}

TEST(FuseAttention, ZeroInsteadOfNan) {
  EXPECT_EQ(hiding_of("in0[i, j] != in0[i, j]", 0), std::vector{true});
  EXPECT_TRUE(hiding_of("in0[i, j] != in0[i, j]", 1).empty());
  EXPECT_TRUE(hiding_of("in0[i, j] == in0[i, j]", 0).empty());
  EXPECT_TRUE(hiding_of("in0[i, j] != in0[i, 15 - j]", 0).empty());
}

// Later passes make another kernel of the same parts.
TEST(FuseAttention, ComputationsKeepTheirParts) {
  Graph graph = scaled_scores("in0[i, j] * in1[]", 2);
  std::vector<ir::Type> types;
  const KernelLibrary kernels = {
      .attention = [&](const AttentionParts& parts, const std::vector<ir::Type>& stored) {
        types = stored;
        return std::optional(std::make_shared<const Computation>(Computation{parts.inputs, {}}));
      }};
  fuse_attention(graph, graph.target, kernels);
  EXPECT_EQ(types, std::vector(3, ir::kFloat32));
  ASSERT_EQ(graph.nodes.size(), 1);
  const Computation& made = *graph.nodes.front().computation;
  ASSERT_NE(made.attention, nullptr);
  EXPECT_EQ(made.attention->scale, 2);
  EXPECT_EQ(made.attention->inputs.size(), made.inputs.size());
}

TEST(FuseAttention, NeedsALibrary) {
  Graph graph = scaled_scores("in0[i, j] * in1[]", 2);
  fuse_attention(graph, graph.target, {});
  EXPECT_EQ(graph.nodes.size(), 4);
}

}  // namespace
}  // namespace texloom::graph
