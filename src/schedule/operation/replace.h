// Computations with other tensors and other sizes in place of some.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "ir/visit.h"
#include "schedule/operation/operation.h"

namespace texloom::schedule {

struct Replacements {
  // By the producer and the number of the output. The types agree, and the shapes too, once the
  // symbols are replaced.
  std::map<std::pair<const RefCounted*, int>, ir::Tensor> tensors = {};
  ir::Substitution symbols = {};  // symbols are at least 1

  void add(const ir::Tensor& from, ir::Tensor to) {
    tensors.insert_or_assign({from->producer.get(), from->output}, std::move(to));
  }
};

// New operations, with axes of their own, that compute the same from the replacements as the
// operations of `outputs`. Externs must not use replaced symbols.
std::vector<ir::Tensor> with_replacements(const std::vector<ir::Tensor>& outputs,
                                          const Replacements& replacements);

}  // namespace texloom::schedule
