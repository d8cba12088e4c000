// Tests the values of constants that become halves.
#include "graph/passes/store_halves.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "support/half.h"

namespace texloom::graph {
namespace {

template <class T>
std::shared_ptr<const std::vector<std::byte>> bytes_of(const std::vector<T>& values) {
  auto bytes = std::make_shared<std::vector<std::byte>>(values.size() * sizeof(T));
  std::memcpy(bytes->data(), values.data(), bytes->size());
  return bytes;
}

Tensor stored(std::vector<float> values) {
  Graph graph;
  graph.add_constant("w", ir::kFloat32, {2, 2}, bytes_of(values));
  store_halves(graph);
  return graph.tensors.front();
}

TEST(StoreHalves, RoundsConstantsToNearest) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {0.1F, 65519.0F, 1e-9F, -infinity};
  const Tensor tensor = stored(values);
  EXPECT_EQ(tensor.type, ir::Type::f(16));
  std::vector<std::uint16_t> expected;
  for (const float value : values) expected.push_back(half_of_float(value));
  EXPECT_EQ(*tensor.value, *bytes_of(expected));
}

// 65520 is the least number that halves make infinite.
TEST(StoreHalves, KeepsConstantsThatWouldBecomeInfinite) {
  const std::vector<float> values = {1.0F, -65520.0F, 0.0F, 0.0F};
  const Tensor tensor = stored(values);
  EXPECT_EQ(tensor.type, ir::kFloat32);
  EXPECT_EQ(*tensor.value, *bytes_of(values));
}

}  // namespace
}  // namespace texloom::graph
