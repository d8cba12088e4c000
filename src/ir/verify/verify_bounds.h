// Proofs of the verifier that accesses lie inside their buffers.
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
  // its own, else those of the sum that it simplifies to. Of minima, quotients and the like they
  // may hold too much: such an index is outside where none of them is inside. Indices that are read
  // from memory are trusted: nobody but the program's user knows what stands there. So are indices
  // of more than 10,000 nodes.
  bool inside(const Expr& index, int64_t extent) const;

 private:
  // Whether the ends of the expression's interval are values of it: those of sums and products of
  // variables are; of extrema, quotients or choices that hang together they may be further out.
  bool is_reached(const Expr& e) const;
  // Whether it stands in a loop without iterations, such as one that ends early at once.
  bool never_runs(const Expr& index) const;

  arith::Ranges ranges_;
  std::unordered_set<const ExprNode*> overestimated_;  // variables bound to such
};

}  // namespace texloom::ir
