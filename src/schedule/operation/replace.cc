#include "schedule/operation/replace.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ir/arith/simplify.h"
#include "ir/program.h"
#include "ir/reducer.h"
#include "schedule/operation/extern_operation.h"
#include "schedule/operation/order.h"
#include "support/check.h"
#include "support/diagnostic.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

namespace {

// Replaces the variables and the tensors of one body. Expressions of symbols only are simplified,
// since a user who writes the computation would give extents in their simplest form.
class BodyRewriter {
 public:
  BodyRewriter(const Replacements& replacements, const arith::Ranges& ranges)
      : replacements_(replacements), ranges_(ranges) {}

  void add_axis(const Expr& from, Expr to) { axes_.emplace(from, std::move(to)); }
  // The row of the copy, if it has rows.
  void set_row(Expr row) { row_ = std::move(row); }

  Expr of(const Expr& e) {
    return done_.find_or(e, [&]() -> Expr {
      if (is_of_symbols(e)) return extent(e);
      if (e->kind == ExprKind::Var) {
        const auto axis = axes_.find(e);
        return axis == axes_.end() ? e : axis->second;
      }
      const Expr mapped = map_children(e, [&](const Expr& child) { return of(child); });
      const auto* read = as<TensorRead>(mapped);
      return read == nullptr ? mapped : replaced(mapped, *read);
    });
  }

  Exprs of(const Exprs& list) {
    Exprs mapped;
    for (const Expr& e : list) mapped.push_back(of(e));
    return mapped;
  }

  Expr extent(const Expr& e) const {
    if (replacements_.symbols.empty() || int_value(e) != nullptr) return e;
    return arith::simplify(substitute(e, replacements_.symbols), ranges_);
  }

  Reducer of(const Reducer& reducer) const {
    Substitution values = replacements_.symbols;
    values.insert(axes_.begin(), axes_.end());
    return substitute(reducer, values);
  }

 private:
  Expr replaced(const Expr& e, const TensorRead& read) const {
    const Replacements::Key key{read.tensor->producer.get(), read.tensor->output};
    const auto found = replacements_.tensors.find(key);
    if (found == replacements_.tensors.end()) return e;
    if (found->second->shape.size() == read.indices.size())
      return make_tensor_read(found->second, read.indices, read.location);
    const auto offset = replacements_.row_offsets.find(key);
    Exprs indices{offset == replacements_.row_offsets.end()
                      ? row_
                      : row_ + make_int(offset->second, row_->type)};
    indices.insert(indices.end(), read.indices.begin(), read.indices.end());
    return make_tensor_read(found->second, std::move(indices), read.location);
  }

  // Whether the expression is index arithmetic on replaced symbols and numbers, with at least one
  // symbol.
  bool is_of_symbols(const Expr& e) {
    if (replacements_.symbols.empty()) return false;
    if (const auto found = of_symbols_.find(e.get()); found != of_symbols_.end())
      return found->second;
    bool is = e->type == kInt32 && (e->kind == ExprKind::Var || e->kind == ExprKind::Binary);
    if (e->kind == ExprKind::Var) {
      is = replacements_.symbols.contains(e);
    } else if (is) {
      for_each_child(e, [&](const Expr& child) {
        is = is && (int_value(child) != nullptr || is_of_symbols(child));
      });
    }
    of_symbols_.emplace(e.get(), is);
    return is;
  }

  const Replacements& replacements_;
  const arith::Ranges& ranges_;
  Substitution axes_;
  Expr row_;
  Rewritten done_;
  std::unordered_map<const ExprNode*, bool> of_symbols_;
};

class Copier {
 public:
  explicit Copier(const Replacements& replacements) : known_(replacements) {
    for (const auto& [from, to] : known_.symbols) {
      walk(to, [&](const Var& symbol) { ranges_.set(Expr(&symbol), {1, kLargestSymbol}); });
    }
  }

  std::vector<Tensor> run(const std::vector<Tensor>& outputs) {
    for (const Op& op : operations_of(outputs)) {
      for (const Tensor& output : outputs_of(op)) {
        if (find(output)) continue;
        add(op);
        break;
      }
    }
    std::vector<Tensor> results;
    for (const Tensor& output : outputs) results.push_back(of(output));
    return results;
  }

 private:
  static constexpr int64_t kLargestSymbol = int64_t{1} << 30;

  std::optional<Tensor> find(const Tensor& tensor) const {
    const auto found = known_.tensors.find({tensor->producer.get(), tensor->output});
    if (found == known_.tensors.end()) return std::nullopt;
    return found->second;
  }
  Tensor of(const Tensor& tensor) const {
    const auto found = find(tensor);
    TL_CHECK(found.has_value(), tensor->name);
    return *found;
  }

  void add(const Op& op) {
    const Op other = copy(*op);
    for (size_t i = 0; i < op->types.size(); ++i) known_.add(output_of(op, i), output_of(other, i));
  }

  // Whether the operation reads a tensor whose replacement has rows.
  bool has_rows(const Operation& op) const {
    return std::any_of(op.inputs.begin(), op.inputs.end(), [&](const Tensor& input) {
      const std::optional<Tensor> found = find(input);
      return found && (*found)->shape.size() > input->shape.size();
    });
  }

  Op copy(const Operation& op) const {
    if (!op.is_compute() && has_rows(op)) {
      fail(op.location, Code::BadScan, "compute it by te.compute",
           "'{}' is computed in each step, but is not a te.compute", op.name);
    }
    switch (op.kind) {
      case OperationKind::Placeholder:
        return placeholder(op);
      case OperationKind::Compute:
        return compute(op);
      case OperationKind::Extern:
        return external(op);
      case OperationKind::Scan:
        return scan(op);
    }
    TL_UNREACHABLE();
  }

  // A copy of the placeholder that is the state of a scan.
  Op placeholder(const Operation& op) const {
    const BodyRewriter body(known_, ranges_);
    Exprs shape;
    for (const Expr& extent : op.shape) shape.push_back(body.extent(extent));
    return make_placeholder(op.name, op.types.front(), std::move(shape), op.location);
  }

  static std::vector<IterVar> axes_like(const std::vector<IterVar>& axes, BodyRewriter& body) {
    std::vector<IterVar> list;
    for (const IterVar& axis : axes) {
      const Expr var = make_var(axis->name(), axis->var->type, axis->var->location);
      list.push_back(make_iter_var(var, body.extent(axis->min), body.extent(axis->extent),
                                   axis->kind, axis->location));
      body.add_axis(axis->var, var);
    }
    return list;
  }

  Op compute(const Operation& op) const {
    BodyRewriter body(known_, ranges_);
    OperationFields other = op;
    other.axes = axes_like(op.axes, body);
    if (has_rows(op)) {
      const Expr row = make_var("row", kInt32, op.location);
      body.set_row(row);
      other.axes.insert(other.axes.begin(),
                        make_iter_var(row, make_int(0), known_.rows, IterKind::Data, op.location));
    }
    other.shape.clear();
    for (const IterVar& axis : other.axes) other.shape.push_back(axis->extent);
    other.reduce_axes = axes_like(op.reduce_axes, body);
    if (const auto* n = as<Reduce>(op.body)) {
      other.body = make_reduce(body.of(n->reducer), body.of(n->sources), other.reduce_axes,
                               n->condition ? body.of(n->condition) : n->condition,
                               body.of(n->init), n->location);
    } else {
      other.body = body.of(op.body);
    }
    check_body_size(other.body, other.name, other.location);
    other.inputs = tensors_read_by(other.body);
    return Op(new Operation(std::move(other)));
  }

  Op external(const Operation& op) const {
    std::vector<Tensor> inputs;
    for (const ExternInput& input : op.reads) inputs.push_back(of(input.tensor));
    return with_inputs(op, std::move(inputs));
  }

  Op scan(const Operation& op) const {
    const BodyRewriter body(known_, ranges_);
    OperationFields other = op;
    for (ScanState& state : other.states) {
      for (const auto part : {&ScanState::init, &ScanState::update, &ScanState::state})
        state.*part = of(state.*part);
    }
    for (Tensor& input : other.inputs) input = of(input);
    other.shape = other.states.front().update->shape;
    const auto axis_like = [&](const IterVar& axis) {
      const Expr var = make_var(axis->name(), axis->var->type, axis->var->location);
      return make_iter_var(var, body.extent(axis->min), body.extent(axis->extent), axis->kind,
                           axis->location);
    };
    other.scan_axis = axis_like(op.scan_axis);
    for (IterVar& axis : other.spatial_axes) axis = axis_like(axis);
    return Op(new Operation(std::move(other)));
  }

  Replacements known_;  // the given replacements, and the tensors of copied operations
  arith::Ranges ranges_;
};

}  // namespace

std::vector<Tensor> with_replacements(const std::vector<Tensor>& outputs,
                                      const Replacements& replacements) {
  return Copier(replacements).run(outputs);
}

}  // namespace texloom::schedule
