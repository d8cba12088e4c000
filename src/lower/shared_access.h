// Accesses of shared buffers, told apart where copies of a buffer take turns.
#pragma once

#include <optional>
#include <unordered_set>
#include <vector>

#include "ir/arith/ranges.h"
#include "ir/buffer.h"

namespace texloom::lower {

// The copy number (var + phase) % copies of a buffer, as pipelined loops use them.
struct Turn {
  ir::Expr var;
  int64_t phase = 0, copies = 0;  // 0 <= phase < copies
  int64_t size = 0;               // elements of a copy
};

struct SharedAccess {
  const ir::BufferNode* buffer = nullptr;
  std::optional<Turn> turn;  // nothing: it may be anywhere in the buffer

  // `indices` as of a flattened access, or none: it may be anywhere. Copies take turns by variables
  // that are the same for all threads: by none of `varying`.
  SharedAccess(const ir::Buffer& accessed, const ir::Exprs& indices,
               const ir::arith::Ranges& ranges,
               const std::unordered_set<const ir::ExprNode*>& varying);

  // Whether the two may meet in one element, while the variables have the same values.
  bool may_meet(const SharedAccess& other) const;
  bool operator==(const SharedAccess& other) const;
};

// What accesses of the iteration before are, seen from this one.
void next_iteration(std::vector<SharedAccess>& accesses, const ir::Expr& var);
// What they are behind the loop over the variable.
void leave_loop(std::vector<SharedAccess>& accesses, const ir::Expr& var);

// Whether what some thread has at `a` is never what another has at `b`: the indices differ by a
// constant that is more than the parts of them that vary less, within the ranges, can make up for.
bool never_one_element(const ir::Exprs& a, const ir::Exprs& b, const ir::arith::Ranges& ranges);

}  // namespace texloom::lower
