#include "compile/operation_count.h"

#include <unordered_set>

#include "ir/arith/simplify.h"

namespace texloom::compile {

using namespace ir;  // the whole file works on IR nodes

namespace {

bool is_counted(BinaryOp op) { return !is_comparison(op) && !is_logical(op); }

// Counts each shared expression once.
class ValueOperations {
 public:
  void add(const Expr& e) {
    if (!seen_.insert(e.get()).second) return;
    if (const auto* chosen = as<Select>(e)) {
      add(chosen->if_true);
      add(chosen->if_false);
      return;
    }
    if (e->kind == ExprKind::TensorRead) return;  // its indices are not values
    if (const auto* n = as<Binary>(e)) count_ += is_counted(n->op) ? 1 : 0;
    if (e->kind == ExprKind::Call) count_ += 1;
    if (e->kind == ExprKind::Fma) count_ += 2;
    known_ = known_ && e->kind != ExprKind::ForeignCall;
    for_each_child(e, [this](const Expr& child) { add(child); });
  }
  void add(const Exprs& values) {
    for (const Expr& value : values) add(value);
  }

  // nullopt if a foreign function is called.
  std::optional<double> count() const { return known_ ? std::optional(count_) : std::nullopt; }

 private:
  std::unordered_set<const ExprNode*> seen_;
  double count_ = 0;
  bool known_ = true;
};

std::optional<OperationTerm> term_of(const schedule::Operation& op) {
  if (op.is_extern()) return std::nullopt;
  OperationTerm term{0, op.shape};
  if (!op.is_compute()) return term;
  ValueOperations operations;
  if (const auto* reduce = as<Reduce>(op.body)) {
    operations.add(reduce->sources);
    operations.add(reduce->reducer.results);
    for (const IterVar& axis : reduce->axes) term.extents.push_back(axis->extent);
  } else {
    operations.add(schedule::values_of(op.body));
  }
  if (!operations.count()) return std::nullopt;
  term.per_point = *operations.count();
  return term;
}

}  // namespace

std::optional<OperationCount> count_operations(const schedule::Schedule& schedule) {
  OperationCount count;
  for (const schedule::StageId id : schedule.order()) {
    const auto term = term_of(*schedule.stage(id).op);
    if (!term) return std::nullopt;
    if (term->per_point > 0) count.push_back(*term);
  }
  return count;
}

std::optional<double> total(const OperationCount& count, const Substitution& symbols) {
  double sum = 0;
  for (const OperationTerm& term : count) {
    double product = term.per_point;
    for (const Expr& extent : term.extents) {
      const Expr known = arith::simplify(substitute(extent, symbols));
      const int64_t* value = int_value(known);
      if (value == nullptr) return std::nullopt;
      product *= static_cast<double>(*value);
    }
    sum += product;
  }
  return sum;
}

}  // namespace texloom::compile
