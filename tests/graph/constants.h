// Sets float32 constants of graphs that are read from text: the text form has no values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace texloom::graph::testing {

using Floats = std::vector<float>;

// The tensor of this name, or null.
inline Tensor* find_tensor(Graph& graph, const std::string& name) {
  const auto found = std::ranges::find(graph.tensors, name, &Tensor::name);
  return found == graph.tensors.end() ? nullptr : &*found;
}

inline void set_values(Graph& graph, const std::string& name, const Floats& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  find_tensor(graph, name)->value =
      std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

// The constant's values; empty if there is no constant of this name, or if it has no values.
inline Floats values_of(Graph& graph, const std::string& name) {
  const Tensor* tensor = find_tensor(graph, name);
  if (tensor == nullptr || !tensor->value) return {};
  Floats values(tensor->value->size() / sizeof(float));
  std::memcpy(values.data(), tensor->value->data(), tensor->value->size());
  return values;
}

}  // namespace texloom::graph::testing
