// The verifier's rules about how long buffers live.
#pragma once

#include <unordered_map>

#include "ir/stmt.h"
#include "ir/verify/verify_scope.h"
#include "ir/verify/violations.h"

namespace texloom::ir {

// Tracks which buffers are allocated and freed. `loop` points to the body of the innermost
// enclosing loop that is not a thread loop; null: none.
class Allocations {
 public:
  // Both arguments must outlive this object. `scope` says which of the buffers are in scope.
  Allocations(const VerifyScope& scope, Violations& found) : scope_(scope), found_(found) {}

  void allocate(const Buffer& buffer, const Stmt* loop) {
    allocations_[buffer.get()] = {.loop = loop};
  }
  // Checks that the buffer is freed once, in the loop that allocates it.
  void free(const Free& n, const Stmt& self, const Stmt* loop);
  bool is_freed(const Buffer& buffer) const;
  // Checks that the statement fills one of the kernel's own buffers, which each iteration of the
  // loop allocates.
  void check_pipelined(const Pipelined& n, const Stmt& self, const Stmt* loop);

 private:
  struct Allocation {
    const Stmt* loop = nullptr;
    bool freed = false;
  };
  // The allocation of the buffer; null if it is not allocated here.
  Allocation* find(const Buffer& buffer);

  const VerifyScope& scope_;
  Violations& found_;
  std::unordered_map<const BufferNode*, Allocation> allocations_;
};

}  // namespace texloom::ir
