// The accesses of a piece of code to shared buffers, between which barriers may be needed.
#pragma once

#include <unordered_set>
#include <vector>

#include "ir/analysis/uniform_values.h"
#include "ir/arith/ranges.h"
#include "lower/barriers/shared_access.h"

namespace texloom::lower {

using BufferSet = std::unordered_set<const ir::BufferNode*>;

// Reads and writes of shared buffers that no barrier separates.
struct SharedAccesses {
  std::vector<SharedAccess> reads, writes;

  bool empty() const { return reads.empty() && writes.empty(); }
  // `overwritten` are buffers for which the order of writes also matters.
  bool conflicts_with(const SharedAccesses& before, const BufferSet& overwritten) const;
  void add(const SharedAccesses& other);
  static void add(std::vector<SharedAccess>& accesses, const SharedAccess& access);
};

// What the accesses of code depend on. Refers to what it is made of.
struct AccessContext {
  const BufferSet& buffers;      // whose accesses are collected
  const BufferSet& overwritten;  // those for which the order of writes also matters
  const SharedAccesses& copied;  // to what asynchronous copies fill, which AwaitCopies make
  const ir::arith::Ranges& ranges;
  const ir::UniformValues::Variables& varying;
};

// The accesses of a statement or an expression, except reads of an element by the store that
// replaces it. A condition around accesses limits where they may be.
SharedAccesses accesses_of(const ir::Stmt& s, const AccessContext& context);
SharedAccesses accesses_of(const ir::Expr& e, const AccessContext& context);

}  // namespace texloom::lower
