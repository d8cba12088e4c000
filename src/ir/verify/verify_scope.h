// The definitions in force at the place that the verifier looks at, and what it found of the
// expressions there.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/node.h"

namespace texloom::ir {

// What an expression was found to be. It holds while the innermost definition that the expression
// uses is in force, since that one stands inside all others.
struct Fact {
  int slot = -1;  // of that definition; -1: none
  uint64_t serial = 0;
  bool varying = false;  // has not the same value in all threads of a block
  bool guarded = false;  // seen only where a condition guards it
};

class VerifyScope {
 public:
  size_t depth() const { return definitions_.size(); }
  // False when it is defined already.
  bool define(const void* what, bool varying);
  // Ends the definitions made since the scope was that deep.
  void leave(size_t depth);
  bool contains(const void* what) const { return slots_.contains(what); }

  // -- The expression being looked at.
  Fact begin(bool guarded) { return std::exchange(fact_, Fact{.guarded = guarded}); }
  // Whether `what` is defined. If so, the expression depends on it.
  bool use(const void* what);
  void depend(const Fact& fact);
  void set_varying() { fact_.varying = true; }
  // Goes on with the expression around, of which begin() returned the fact; remembers the inner.
  Fact end(const Expr& e, const Fact& outer);

  // What was found of `e`, if it still holds. What was seen behind a guard says nothing of a place
  // without one.
  const Fact* known(const Expr& e, bool guarded) const;
  void forget_facts() { facts_.clear(); }

 private:
  // `serial` tells it from others that stood in the same slot.
  struct Definition {
    const void* what;
    uint64_t serial;
    bool varying;
  };

  std::vector<Definition> definitions_;
  std::unordered_map<const void*, int> slots_;  // of definitions_
  uint64_t serial_ = 0;
  std::unordered_map<const ExprNode*, Fact> facts_;
  Fact fact_;
};

}  // namespace texloom::ir
