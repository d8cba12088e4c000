// What is known at a place of the program: of variables, and of sums of them.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/arith/interval.h"
#include "ir/arith/linear.h"
#include "ir/arith/modular.h"
#include "ir/stmt.h"

namespace texloom::ir::arith {

// A value; copies are for the places further in, where more is known.
class Ranges {
 public:
  void set(const Expr& var, Interval interval) { known_[var.get()].interval = interval; }
  void set_modular(const Expr& var, Modular modular) { known_[var.get()].modular = modular; }
  // Of a variable of several loops or Lets: the values of this one too.
  void widen(const Expr& var, Interval interval);
  void forget(const Expr& var) { known_.erase(var.get()); }
  // Everything when nothing is known.
  Interval of(const ExprNode* var) const {
    const auto found = known_.find(var);
    return found == known_.end() ? Interval::everything() : found->second.interval;
  }
  Modular modular_of(const ExprNode* var) const {
    const auto found = known_.find(var);
    return found == known_.end() ? Modular::everything() : found->second.modular;
  }

  // The values of a sum of several variables (a guard says so); of a sum of one, those of the
  // variable.
  void limit(const LinearSum& sum, Interval interval);
  bool knows_sums() const { return !sums_.empty(); }
  // From what is known of other sums, a multiple of which is the sum or a part of it.
  Interval of_sum(const LinearSum& sum) const;

  // Variables that hold a value of memory: arithmetic of them may overflow (linear.h).
  void set_memory(const Expr& var) { memory_.insert(var.get()); }
  bool holds_memory(const ExprNode* var) const { return memory_.contains(var); }

  // A variable from 0 to what is known of the extent: of one that is no constant also that the
  // variable is less.
  void enter(const Expr& var, const Expr& extent);
  void enter(const For& loop) { enter(loop.var, loop.extent); }
  // The same for what holds in all loops over the variable, of which this is one.
  void enter_also(const For& loop);
  // The variable of a Let has what its value has, if that is index arithmetic.
  void enter(const Let& let);
  // That the condition holds, or that it does not: what follows for the sums of index arithmetic
  // in it. The rest of it, and what it reads from memory, is passed over.
  void assume(const Expr& condition, bool holds = true);

 private:
  struct Known {
    Interval interval;
    Modular modular;
  };
  struct KnownSum {
    LinearSum sum;  // without a constant; its coefficients have no common factor
    Interval interval;
  };

  void assume_comparison(BinaryOp op, const Binary& n);
  void forget_sums(const Expr& var);

  std::unordered_map<const ExprNode*, Known> known_;
  std::vector<KnownSum> sums_;
  std::unordered_set<const ExprNode*> memory_;
};

}  // namespace texloom::ir::arith
