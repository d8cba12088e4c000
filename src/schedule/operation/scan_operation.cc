#include "schedule/operation/scan_operation.h"

#include <algorithm>
#include <unordered_map>

#include "ir/arith/order.h"
#include "ir/arith/simplify.h"
#include "ir/program.h"
#include "ir/visit.h"
#include "support/diagnostic.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

namespace {

using Operations = std::unordered_set<const RefCounted*>;

const Operation& producer_of(const Tensor& t) {
  return static_cast<const Operation&>(*t->producer);
}

Operations producers(const Operation& scan, Tensor ScanState::* part) {
  Operations found;
  for (const ScanState& each : scan.states) found.insert((each.*part)->producer.get());
  return found;
}

// The updates, and all their inputs that depend on states. Without recursion, since chains of
// operations may be long.
std::vector<Op> operations_of_step(const Operation& scan) {
  const Operations states = producers(scan, &ScanState::state);
  const Operations updates = producers(scan, &ScanState::update);
  // Whether each visited operation depends on a state.
  std::unordered_map<const RefCounted*, bool> depends;
  for (const RefCounted* state : states) depends.emplace(state, true);
  std::vector<Op> order, stack;
  for (const ScanState& each : scan.states) stack.push_back(operation_of(each.update));
  while (!stack.empty()) {
    const Op op = stack.back();
    if (depends.contains(op.get())) {
      stack.pop_back();
      continue;
    }
    const size_t before = stack.size();
    for (const Tensor& input : op->inputs) {
      if (!depends.contains(input->producer.get())) stack.push_back(operation_of(input));
    }
    if (stack.size() > before) continue;
    stack.pop_back();
    const bool own = updates.contains(op.get()) ||
                     std::any_of(op->inputs.begin(), op->inputs.end(), [&](const Tensor& input) {
                       return depends.at(input->producer.get());
                     });
    depends.emplace(op.get(), own);
    if (own) order.push_back(op);
  }
  return order;
}

class ScanChecker {
 public:
  explicit ScanChecker(const Operation& scan) : scan_(scan) {}

  void check_states() const {
    if (scan_.states.empty() || scan_.states.size() > kMaxOutputs) {
      wrong("give 1 to 64 states", "it has no state, or more than 64");
    }
    for (const ScanState& state : scan_.states) check_state(state);
    for (const auto part : {&ScanState::init, &ScanState::update, &ScanState::state}) {
      for (size_t i = 0; i < scan_.states.size(); ++i) {
        for (size_t j = 0; j < i; ++j) {
          const Tensor &one = scan_.states[i].*part, &other = scan_.states[j].*part;
          if (!one->same_tensor(*other)) continue;
          wrong("give each state its own init, update and placeholder",
                fmt::format("'{}' is named for two states", one->name));
        }
      }
    }
  }

  void check_steps() {
    const int64_t* steps = int_value(scan_.scan_axis->extent);
    if (steps != nullptr && *steps < 1) {
      wrong("give the updates more rows than the inits", "there is no step after the init");
    }
    step_ = step_of(scan_);
    check_operations();
    row_ = make_var(producer_of(scan_.states.front().update).axes.front()->name());
    const int64_t first = *int_value(scan_.scan_axis->min);
    arith::Interval rows{first, arith::Interval::kNone};
    if (steps != nullptr) rows.max = first + *steps - 1;
    ranges_.set(row_, rows);
    for (const Op& op : step_.operations) check_reads(*op);
  }

 private:
  [[noreturn]] void wrong(std::string help, const std::string& problem) const {
    fail(scan_.location, Code::BadScan, std::move(help), "scan '{}': {}", scan_.name, problem);
  }

  static bool same_extent(const Expr& a, const Expr& b) { return arith::prove_equal(a, b, {}); }

  void check_state(const ScanState& state) const {
    const auto& [init, update, placeholder] = state;
    for (const Tensor& t : {init, update}) {
      if (producer_of(t).is_compute()) continue;
      wrong("copy it: te.compute(T.shape, lambda *i: T(*i))",
            fmt::format("'{}' is not made by a te.compute", t->name));
    }
    if (!producer_of(placeholder).is_placeholder()) {
      wrong("use te.placeholder(update.shape) as the state",
            fmt::format("the state '{}' is not a placeholder", placeholder->name));
    }
    const size_t rank = init->shape.size();
    bool fits = rank > 0 && init->type == update->type && init->type == placeholder->type &&
                update->shape.size() == rank && placeholder->shape.size() == rank;
    for (size_t i = 0; fits && i < rank; ++i) {
      fits = same_extent(update->shape[i], placeholder->shape[i]) &&
             (i == 0 || same_extent(init->shape[i], update->shape[i]));
    }
    const ScanState& first = scan_.states.front();
    fits = fits && same_extent(init->shape[0], first.init->shape[0]) &&
           same_extent(update->shape[0], first.update->shape[0]);
    if (!fits) {
      wrong(
          "give all three the same dtype and shape, where only the init may have another number of "
          "rows; give all states the same numbers of rows",
          fmt::format("the init '{}', the update '{}' and the state '{}' do not fit", init->name,
                      update->name, placeholder->name));
    }
    if (int_value(init->shape[0]) != nullptr) return;
    wrong("give the init a constant number of rows",
          fmt::format("the init '{}' has {} rows, which is not constant", init->name,
                      to_string(init->shape[0])));
  }

  void check_operations() const {
    const Operations inits = producers(scan_, &ScanState::init);
    for (const Op& op : step_.operations) {
      if (inits.contains(op.get())) {
        wrong("compute the init from other tensors",
              fmt::format("the init '{}' depends on a state", op->name));
      }
      if (op->is_compute()) continue;
      wrong("read states only in te.compute",
            fmt::format("'{}' depends on a state, but is not a te.compute", op->name));
    }
  }

  // Checks that a step reads states only in earlier rows, and updates only in the row of the step.
  void check_reads(const Operation& op) const {
    Substitution rows;
    Facts facts{ranges_, true};
    for (const auto* axes : {&op.axes, &op.reduce_axes}) {
      for (const IterVar& axis : *axes) {
        if (step_.rows.contains(axis->var.get())) {
          rows.emplace(axis->var, make_cast(axis->var->type, row_));
        } else {
          facts.ranges.assume(axis->var >= axis->min);
          facts.ranges.assume(axis->var < make_cast(axis->var->type, axis->min + axis->extent));
        }
      }
    }
    check_evaluated(op, substitute(op.body, rows), facts);
  }

  // The facts that hold where an expression is evaluated.
  struct Facts {
    arith::Ranges ranges;
    bool always;  // whether the expression is evaluated in each step

    Facts where(const Expr& condition, bool holds = true) const {
      Facts further{ranges, false};
      further.ranges.assume(condition, holds);
      return further;
    }
  };

  void check_evaluated(const Operation& op, const Expr& e, const Facts& facts) const {
    const auto check = [&](const Expr& child, const Facts& at) { check_evaluated(op, child, at); };
    if (const auto* n = as<Select>(e)) {
      check(n->condition, facts);
      check(n->if_true, facts.where(n->condition));
      check(n->if_false, facts.where(n->condition, false));
      return;
    }
    if (const auto* n = as<Binary>(e); n != nullptr && is_logical(n->op)) {
      check(n->a, facts);
      check(n->b, facts.where(n->a, n->op == BinaryOp::And));
      return;
    }
    if (const auto* n = as<Reduce>(e); n != nullptr && n->condition) {
      check(n->condition, facts);
      for (const Expr& source : n->sources) check(source, facts.where(n->condition));
      for (const Expr& start : n->init) check(start, facts);
      return;
    }
    if (const auto* n = as<TensorRead>(e)) check_read(op, *n, facts);
    for_each_child(e, [&](const Expr& child) { check(child, facts); });
  }

  // A read inside a condition is trusted not to read before the first row.
  void check_read(const Operation& op, const TensorRead& n, const Facts& facts) const {
    const auto is = [&](Tensor ScanState::* part) {
      return std::any_of(scan_.states.begin(), scan_.states.end(), [&](const ScanState& each) {
        return (each.*part)->same_tensor(*n.tensor);
      });
    };
    const Expr& row = n.indices.front();
    if (is(&ScanState::state)) {
      const bool earlier =
          arith::prove_less(row, make_cast(row->type, row_), facts.ranges) &&
          (!facts.always || arith::prove_greater(row, make_int(-1, row->type), facts.ranges));
      if (!earlier) row_is_not_earlier(op, n);
    } else if (is(&ScanState::update) && !row.same_as(row_)) {
      wrong(
          fmt::format("read the state '{}' for earlier rows", state_of(n.tensor)->name),
          fmt::format("'{}' reads the row {} of the update '{}', which is not the row of the step",
                      op.name, to_string(row), n.tensor->name));
    }
  }

  [[noreturn]] void row_is_not_earlier(const Operation& op, const TensorRead& n) const {
    const std::string &state = n.tensor->name, step = to_string(row_);
    const int64_t first = *int_value(scan_.scan_axis->min);
    const std::string further =
        first == 1 ? "" : fmt::format(" and rows down to {}[{} - {}]", state, step, first);
    wrong(fmt::format("read {}[{} - 1]{}, or rows k where=k < {}; read values computed from the "
                      "state only in the row {}",
                      state, step, further, step, step),
          fmt::format("'{}' reads the row {} of the state '{}', which is not known to be computed "
                      "before the row {}",
                      op.name, to_string(n.indices.front()), state, step));
  }

  const Tensor& state_of(const Tensor& update) const {
    return std::find_if(scan_.states.begin(), scan_.states.end(),
                        [&](const ScanState& s) { return s.update->same_tensor(*update); })
        ->state;
  }

  const Operation& scan_;
  ScanStep step_;
  Expr row_;  // the row of the step; replaces all axes that always equal this row
  arith::Ranges ranges_;
};

std::vector<IterVar> spatial_axes(const Operation& scan) {
  std::vector<IterVar> axes;
  for (size_t i = 0; i < scan.states.size(); ++i) {
    const Exprs& shape = scan.states[i].update->shape;
    for (size_t k = 1; k < shape.size(); ++k) {
      const Expr var =
          make_var(fmt::format("{}.out{}.i{}", scan.name, i, k), kInt32, scan.location);
      axes.push_back(make_iter_var(var, make_int(0), shape[k], IterKind::Data, scan.location));
    }
  }
  return axes;
}

}  // namespace

ScanStep step_of(const Operation& scan) {
  ScanStep step{operations_of_step(scan), {}};
  const Operations updates = producers(scan, &ScanState::update);
  // For the inputs of updates: whether a reader uses an axis for anything but the row.
  std::unordered_map<const RefCounted*, std::vector<bool>> other;
  for (const Op& op : step.operations) {
    if (op->is_compute()) other[op.get()].resize(op->axes.size());
  }
  for (auto op = step.operations.rbegin(); op != step.operations.rend(); ++op) {
    const std::vector<IterVar>& axes = (*op)->axes;
    const bool update = updates.contains(op->get());
    for (size_t i = 0; i < axes.size(); ++i) {
      const bool is_row = update ? i == 0 : !other.at(op->get())[i];
      if (is_row) step.rows.insert(axes[i]->var.get());
    }
    if (!(*op)->is_compute()) continue;
    walk((*op)->body, [&](const TensorRead& n) {
      const auto found = other.find(n.tensor->producer.get());
      if (found == other.end()) return;
      for (size_t i = 0; i < n.indices.size(); ++i) {
        if (!step.rows.contains(n.indices[i].get())) found->second[i] = true;
      }
    });
  }
  return step;
}

Op make_scan(std::string name, const std::string& axis, std::string tag,
             std::vector<ScanState> states, SourceLocation location,
             Ref<OperationAttributes> attributes) {
  auto* op = new Operation;
  Op result(op);
  op->kind = OperationKind::Scan;
  op->name = std::move(name);
  op->tag = std::move(tag);
  op->states = std::move(states);
  op->location = std::move(location);
  op->attributes = std::move(attributes);
  ScanChecker checker(*op);
  checker.check_states();
  for (const ScanState& state : op->states) op->types.push_back(state.update->type);
  for (const auto part : {&ScanState::init, &ScanState::update, &ScanState::state}) {
    for (const ScanState& state : op->states) op->inputs.push_back(state.*part);
  }
  const ScanState& first = op->states.front();
  op->shape = first.update->shape;
  const Expr& begin = first.init->shape[0];
  op->scan_axis =
      make_iter_var(make_var(axis, kInt32, op->location), begin,
                    arith::simplify(op->shape[0] - begin), IterKind::Ordered, op->location);
  op->spatial_axes = spatial_axes(*op);
  checker.check_steps();
  return result;
}

}  // namespace texloom::schedule
