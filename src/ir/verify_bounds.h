// Proofs of the verifier that accesses lie inside their buffers.
#pragma once

#include <cstdint>

#include "ir/arith/ranges.h"
#include "ir/program.h"

namespace texloom::ir {

class BoundsProof {
 public:
  void enter(const For& loop);
  void enter(const Let& let) { ranges_.enter(let); }
  void enter(const ThreadAxis& axis) { ranges_.set(axis.var, {0, axis.extent - 1}); }

  // Whether all lanes of `index` are at least 0 and less than `extent`: by intervals, else by
  // those of the sum that it simplifies to. Indices that are read from memory are trusted: nobody
  // but the program's user knows what stands there. So are indices of more than 10,000 nodes.
  bool inside(const Expr& index, int64_t extent) const;

 private:
  arith::Ranges ranges_;
};

}  // namespace texloom::ir
