// Proofs of the verifier that accesses lie inside their buffers.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "ir/arith/ranges.h"

namespace texloom::ir {

class BoundsProof {
 public:
  // `var` runs from 0 to extent - 1; over all numbers when the extent is not known.
  void run_over(const Expr& var, const Expr& extent);
  void run_over(const Expr& var, int64_t extent);
  // `var` is `value`.
  void let(const Expr& var, const Expr& value);

  // Whether all lanes of `index` are at least 0 and less than `extent`: by intervals, else by
  // those of the sum that it simplifies to. Indices that are read from memory are trusted: nobody
  // but the program's user knows what stands there. So are indices of more than 10,000 nodes.
  bool inside(const Expr& index, int64_t extent) const;

 private:
  // Whether a value of memory takes part, bound by a let or not.
  bool holds_memory(const Expr& e) const;

  arith::Ranges ranges_;
  std::unordered_set<const ExprNode*> from_memory_;  // variables bound or run up to such values
};

}  // namespace texloom::ir
