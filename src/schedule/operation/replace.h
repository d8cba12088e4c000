// Copies computations, with given tensors and symbols replaced.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "ir/visit.h"
#include "schedule/operation/operation.h"

namespace texloom::schedule {

struct Replacements {
  using Key = std::pair<const RefCounted*, int>;  // a producer and the number of its output

  // A replacement has the tensor's type, and the tensor's shape once the symbols are replaced. In
  // front of it, there may be an axis of `rows`: then all computes that depend on the tensor get
  // this axis. Their row r reads the row r + offset of the replacement; the offset is 0 by default.
  std::map<Key, ir::Tensor> tensors = {};
  ir::Expr rows = {};
  std::map<Key, std::int64_t> row_offsets = {};
  ir::Substitution symbols = {};  // symbols are at least 1

  void add(const ir::Tensor& from, ir::Tensor to) {
    tensors.insert_or_assign({from->producer.get(), from->output}, std::move(to));
  }
};

// Copies the operations of `outputs`, with new axes, so that the copies compute the same from the
// replacements. Externs must not use replaced symbols. Fails with BadScan for an extern or a scan
// that depends on a tensor with rows.
std::vector<ir::Tensor> with_replacements(const std::vector<ir::Tensor>& outputs,
                                          const Replacements& replacements);

}  // namespace texloom::schedule
