// Proves, for the verifier, that accesses are inside their buffers.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "ir/arith/ranges.h"
#include "ir/program.h"

namespace texloom::ir {

class BoundsProof {
 public:
  explicit BoundsProof(const Program& program);

  void enter(const For& loop);
  void enter(const Let& let);
  void enter(const ThreadAxis& axis);

  // Whether all lanes of `index` are at least 0 and less than `extent`, as far as intervals tell:
  // the interval of the index, or of the sum to which the index simplifies. The interval of minima,
  // quotients, squares and the like may be too wide: such an index counts as outside only if the
  // whole interval is outside. Indices read from memory are trusted, since only the user knows the
  // contents. Indices of more than 10,000 nodes are trusted, too.
  bool inside(const Expr& index, int64_t extent) const;

 private:
  // Whether the ends of the expression's interval are among its values. The ends of sums and
  // products of different variables are reached; the ends of squares, extrema, quotients or
  // dependent choices may not be.
  bool is_reached(const Expr& e) const;
  // Whether the index is in a loop without iterations.
  bool never_runs(const Expr& index) const;

  arith::Ranges ranges_;
  std::unordered_set<const ExprNode*> overestimated_;  // variables whose intervals may be too wide
};

}  // namespace texloom::ir
