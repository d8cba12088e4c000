// The verifier's rules about how long buffers live.
#pragma once

#include <unordered_map>

#include "ir/stmt.h"
#include "ir/verify/verify_scope.h"
#include "ir/verify/violations.h"

namespace texloom::ir {

// What is allocated so far, and what of it is freed. A loop is known by its body, which `loop`
// points to: the innermost one that is no thread loop; null: none.
class Allocations {
 public:
  // Both must outlive it; `scope` says which of the buffers are in force.
  Allocations(const VerifyScope& scope, Violations& found) : scope_(scope), found_(found) {}

  void allocate(const Buffer& buffer, const Stmt* loop) { places_[buffer.get()] = {.loop = loop}; }
  // It is freed once, in the loop that allocates it.
  void free(const Free& n, const Stmt& self, const Stmt* loop);
  bool is_freed(const Buffer& buffer) const;
  // It fills a buffer of the kernel's own that each iteration of the loop has anew.
  void check_pipelined(const Pipelined& n, const Stmt& self, const Stmt* loop);

 private:
  struct Place {
    const Stmt* loop = nullptr;
    bool freed = false;
  };
  // Null where it is not allocated here.
  Place* find(const Buffer& buffer);

  const VerifyScope& scope_;
  Violations& found_;
  std::unordered_map<const BufferNode*, Place> places_;
};

}  // namespace texloom::ir
