// Copies computations, with given tensors and symbols replaced.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "ir/visit.h"
#include "schedule/operation/operation.h"

namespace texloom::schedule {

struct Replacements {
  // Keyed by the producer and the number of its output. A replacement has the tensor's type, and
  // the tensor's shape once the symbols are replaced.
  std::map<std::pair<const RefCounted*, int>, ir::Tensor> tensors = {};
  ir::Substitution symbols = {};  // symbols are at least 1

  void add(const ir::Tensor& from, ir::Tensor to) {
    tensors.insert_or_assign({from->producer.get(), from->output}, std::move(to));
  }
};

// Copies the operations of `outputs`, with new axes, so that the copies compute the same from the
// replacements. Externs must not use replaced symbols.
std::vector<ir::Tensor> with_replacements(const std::vector<ir::Tensor>& outputs,
                                          const Replacements& replacements);

}  // namespace texloom::schedule
