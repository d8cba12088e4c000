// Facts about variables and their sums that hold at one place of the program.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/arith/interval.h"
#include "ir/arith/linear.h"
#include "ir/arith/modular.h"
#include "ir/stmt.h"

namespace texloom::ir::arith {

// Has value semantics: copy it for inner places, where more facts hold.
class Ranges {
 public:
  void set(const Expr& var, Interval interval) { known_[var.get()].interval = interval; }
  void set_modular(const Expr& var, Modular modular) { known_[var.get()].modular = modular; }
  // Adds the interval to the values of a variable that several loops or Lets bind: the interval
  // holds for one of these loops or Lets.
  void widen(const Expr& var, Interval interval);
  void forget(const Expr& var) { known_.erase(var.get()); }
  // The values of a variable; an unbounded interval if nothing is known.
  Interval of(const ExprNode* var) const {
    const auto found = known_.find(var);
    return found == known_.end() ? Interval::everything() : found->second.interval;
  }
  Modular modular_of(const ExprNode* var) const {
    const auto found = known_.find(var);
    return found == known_.end() ? Modular::everything() : found->second.modular;
  }

  // Limits the values of a sum, as a guard does. If the sum has only one variable, limits that
  // variable.
  void limit(const LinearSum& sum, Interval interval);
  bool knows_sums() const { return !sums_.empty(); }
  // The bounds that follow from known sums which, multiplied by a factor, equal the sum or a part
  // of it.
  Interval of_sum(const LinearSum& sum) const;

  // Marks a variable that has a value from memory: arithmetic on it may overflow (linear.h).
  void set_memory(const Expr& var) { memory_.insert(var.get()); }
  bool holds_memory(const ExprNode* var) const { return memory_.contains(var); }

  // Enters a loop: the variable is at least 0 and less than the greatest known value of the extent.
  // If the extent is not constant, the variable is also known to be less than the extent itself.
  void enter(const Expr& var, const Expr& extent);
  void enter(const For& loop) { enter(loop.var, loop.extent); }
  // Adds the iterations of this loop to the values of its variable, which other loops also use.
  void enter_also(const For& loop);
  // If the value is index arithmetic, the facts about the value also hold for the variable.
  void enter(const Let& let);
  // Assumes that the condition is true, or that it is false, and limits the sums of index
  // arithmetic in it. Ignores values from memory and all other parts of the condition.
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
