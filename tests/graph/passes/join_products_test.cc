// Tests which products are joined, for a library whose kernels for attention move operands.
#include "graph/passes/join_products.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "graph/text/text.h"
#include "graph/verify/verify.h"

namespace texloom::graph {
namespace {

const KernelLibrary kLibrary = {.moves_operands = true};

// Gives constants the values 0, 1, 2, ...
void fill(Graph& graph) {
  for (Tensor& tensor : graph.tensors) {
    if (tensor.role != TensorRole::Constant) continue;
    std::size_t count = 1;
    for (const Size& extent : tensor.shape) count *= static_cast<std::size_t>(*extent.constant());
    std::vector<float> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i));
    std::vector<std::byte> bytes(count * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    tensor.value = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  }
}

// The computation that adds a bias to a 6 x columns matrix.
std::string sum(int number, int columns) {
  return fmt::format(R"(
computation {0} (in0, in1) -> (sum)
placeholder in0: float32[6, {1}]
placeholder in1: float32[{1}]
compute sum(i < 6, j < {1}): float32 = in0[i, j] + in1[j]
)",
                     number, columns);
}

// The computation of a product of a 6 x 8 matrix by a matrix of so many columns.
std::string product(int number, int columns) {
  return fmt::format(R"(
computation {0} (in0, in1) -> (sums)
  reducer sum(x, y): float32 = x + y, identity=0.0

placeholder in0: float32[6, 8]
placeholder in1: float32[8, {1}]
compute sums(i < 6, j < {1}): float32 = reduce(sum, [k < 8], in0[i, k] * in1[k, j])
)",
                     number, columns);
}

// Queries with a bias, and keys; `last` is the last operator, which computes s.
Graph queries_and_keys(const std::string& last, int keys = 4) {
  Graph graph = parse_graph(fmt::format(R"(program attention stage=graph target="opencl"
  input x: float32[6, 8]
  constant wq: float32[8, 4]
  constant wk: float32[8, {1}]
  constant bq: float32[4]
  constant bk: float32[{1}]
  edge p: float32[6, 4]
  edge r: float32[6, {1}]
  edge q: float32[6, 4]
  edge k: float32[6, {1}]
  edge s: float32[6, 6]
  outputs (s)
  operator p op="matmul" pattern=contraction computation=0 (x, wq) -> (p)
  operator q op="add" pattern=broadcast computation=2 (p, bq) -> (q)
  operator r op="matmul" pattern=contraction computation=1 (x, wk) -> (r)
  operator k op="add" pattern=broadcast computation=3 (r, bk) -> (k)
  operator s {0} -> (s)
)",
                                        last, keys) +
                                product(0, 4) + product(1, keys) + sum(2, 4) + sum(3, keys),
                            "attention.tl");
  fill(graph);
  return graph;
}

const Node* node_named(const Graph& graph, const std::string& name) {
  for (const Node& node : graph.nodes) {
    if (node.name == name) return &node;
  }
  return nullptr;
}

std::vector<float> values_of(const Graph& graph, TensorId id) {
  std::vector<float> values(graph.tensors[id].value->size() / sizeof(float));
  std::memcpy(values.data(), graph.tensors[id].value->data(), values.size() * sizeof(float));
  return values;
}

TEST(JoinProducts, ProductsAndBiasesHaveAllColumns) {
  Graph graph = queries_and_keys("op=\"scores\" pattern=contraction (q, k)", 2);
  join_products(graph, graph.target, kLibrary);
  verify(graph);
  ASSERT_EQ(graph.nodes.size(), 5);  // product, bias, two slices, scores
  const Node* joined = node_named(graph, "p.joined");
  const Node* biased = node_named(graph, "q.joined");
  ASSERT_TRUE(joined != nullptr && biased != nullptr);
  EXPECT_EQ(graph.tensors[joined->outputs.front()].shape, (Shape{6, 6}));
  EXPECT_EQ(biased->inputs.front(), joined->outputs.front());
  // Rows of four columns of queries, then two of keys.
  const std::vector<float> weights = values_of(graph, joined->inputs[1]);
  EXPECT_EQ(std::vector(weights.begin(), weights.begin() + 12),
            (std::vector<float>{0, 1, 2, 3, 0, 1, 4, 5, 6, 7, 2, 3}));
  EXPECT_EQ(values_of(graph, biased->inputs[1]), (std::vector<float>{0, 1, 2, 3, 0, 1}));
  const Node& scores = graph.nodes.back();
  EXPECT_EQ(scores.name, "s");
  EXPECT_EQ(graph.tensors[scores.inputs.front()].name, "q");
  EXPECT_EQ(graph.tensors[scores.inputs.back()].name, "k");
}

// Results that are not multiplied by results have kernels that read no columns in place.
TEST(JoinProducts, OtherReadersKeepProductsApart) {
  for (const char* last :
       {"op=\"cat\" pattern=opaque (q, k)", "op=\"add\" pattern=elementwise (q, k)"}) {
    Graph graph = queries_and_keys(last);
    join_products(graph, graph.target, kLibrary);
    EXPECT_EQ(graph.nodes.size(), 5) << last;
    EXPECT_EQ(node_named(graph, "p.joined"), nullptr) << last;
  }
}

TEST(JoinProducts, NeedsKernelsThatMoveOperands) {
  Graph graph = queries_and_keys("op=\"scores\" pattern=contraction (q, k)");
  join_products(graph, graph.target, {});
  EXPECT_EQ(node_named(graph, "p.joined"), nullptr);
}

}  // namespace
}  // namespace texloom::graph
