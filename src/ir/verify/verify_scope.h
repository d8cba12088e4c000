// The definitions in scope at the place that the verifier checks, and the facts that it found about
// the expressions there.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/node.h"

namespace texloom::ir {

// The result of verifying an expression. Valid while the innermost definition that the expression
// uses is in scope: all other definitions that the expression uses enclose the innermost one.
struct Fact {
  int slot = -1;  // the slot of the innermost definition; -1: none
  uint64_t serial = 0;
  bool varying = false;  // may differ between threads of a block
  bool guarded = false;  // checked only under a condition that guards it
};

class VerifyScope {
 public:
  size_t depth() const { return definitions_.size(); }
  // Adds a definition; false if `what` is defined already.
  bool define(const void* what, bool varying);
  // Ends all definitions after the first `depth`.
  void leave(size_t depth);
  bool contains(const void* what) const { return slots_.contains(what); }

  // -- The expression being looked at.
  Fact begin(bool guarded) { return std::exchange(fact_, Fact{.guarded = guarded}); }
  // Whether `what` is defined. If so, the expression depends on it.
  bool use(const void* what);
  void depend(const Fact& fact);
  void set_varying() { fact_.varying = true; }
  // Returns to the enclosing expression, whose fact begin() returned, and remembers the inner fact.
  Fact end(const Expr& e, const Fact& outer);

  // The fact about `e`, if it is still valid. A fact found under a guard says nothing about a place
  // without a guard.
  const Fact* known(const Expr& e, bool guarded) const;
  void forget_facts() { facts_.clear(); }

 private:
  // `serial` distinguishes this definition from other definitions that had its slot.
  struct Definition {
    const void* what;
    uint64_t serial;
    bool varying;
  };

  std::vector<Definition> definitions_;
  std::unordered_map<const void*, int> slots_;  // the index of each definition in definitions_
  uint64_t serial_ = 0;
  std::unordered_map<const ExprNode*, Fact> facts_;
  Fact fact_;
};

}  // namespace texloom::ir
