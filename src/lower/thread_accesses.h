// Accesses of buffers that threads have in common, and whether they are of one thread.
#pragma once

#include <map>
#include <vector>

#include "ir/stmt.h"
#include "lower/same_thread.h"
#include "support/function_ref.h"

namespace texloom::lower {

struct ThreadAccess {
  const ir::BufferNode* buffer = nullptr;
  ir::Exprs indices;
  std::vector<ir::ThreadTag> tags;  // of the thread loops around
  SourceLocation location;
};

// Of loops at stage Loops. What a store reads of the element that it replaces is left out: that is
// its own thread's.
class ThreadAccesses {
 public:
  ThreadAccesses(const ir::Stmt& loops, FunctionRef<bool(const ir::Buffer&)> wanted,
                 const ir::arith::Ranges& ranges);

  const std::vector<ThreadAccess>& writes() const { return writes_; }
  // Hands over each write with a read of the same buffer, and a tag along which the two may be
  // different threads.
  void for_each_exchange(
      size_t first_axis,
      FunctionRef<void(const ThreadAccess&, const ThreadAccess&, ir::ThreadTag)> found) const;
  // The tags along which the two may be different threads where they meet in one element, as far
  // as axes from `first_axis` on tell.
  std::vector<ir::ThreadTag> tags_apart(const ThreadAccess& write, const ThreadAccess& read,
                                        size_t first_axis) const;

 private:
  using Wanted = FunctionRef<bool(const ir::Buffer&)>;

  void collect(const ir::Stmt& s, Wanted wanted, const std::vector<ir::ThreadTag>& tags);
  void collect_reads(const ir::Expr& e, Wanted wanted, const std::vector<ir::ThreadTag>& tags,
                     const ir::Store* store);

  const ir::arith::Ranges& ranges_;
  // That a kernel has several of; the variable of the first loop stands for those of all.
  std::map<ir::ThreadTag, ir::Expr> threads_;
  EqualWhereMet::Variables variables_;
  std::vector<ThreadAccess> writes_, reads_;
};

}  // namespace texloom::lower
