// Describes accesses of shared buffers and distinguishes the copies of a buffer that take turns.
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
  std::optional<Turn> turn;  // nullopt: the access may be anywhere in the buffer
  // The indices of a write, where the order of writes matters; else empty.
  ir::Exprs place;

  // `indices` are the indices of a flattened access; if empty, the access may be anywhere. The
  // variables that select the copy are the same for all threads, so they are not in `varying`.
  SharedAccess(const ir::Buffer& accessed, const ir::Exprs& indices,
               const ir::arith::Ranges& ranges,
               const std::unordered_set<const ir::ExprNode*>& varying);

  // Whether the two accesses may be to the same element while the variables have the same values.
  bool may_meet(const SharedAccess& other) const;
  // Whether the order of two writes matters. Writes with the same indices do not count: one thread
  // makes both, or they race in any case.
  bool may_overwrite(const SharedAccess& other) const;
  bool operator==(const SharedAccess& other) const;
};

// Rewrites accesses of the previous iteration in terms of this iteration.
void next_iteration(std::vector<SharedAccess>& accesses, const ir::Expr& var);
// Rewrites accesses of a loop over the variable so that they are valid after the loop.
void leave_loop(std::vector<SharedAccess>& accesses, const ir::Expr& var);

}  // namespace texloom::lower
