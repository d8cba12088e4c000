#include "schedule/structural_hash.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "ir/equal.h"
#include "ir/visit.h"
#include "schedule/operation/order.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

namespace {

// The symbols in shapes, in order of appearance.
Exprs symbols_in(const std::vector<Tensor>& tensors) {
  Exprs symbols;
  std::unordered_set<const ExprNode*> known;
  for (const Tensor& tensor : tensors) {
    for (const Expr& extent : tensor->shape) {
      walk(extent, [&](const Var& v) {
        if (known.insert(&v).second) symbols.emplace_back(&v);
      });
    }
  }
  return symbols;
}

// All operations: first the inputs, even inputs that nothing reads, then the operations that
// compute the outputs.
std::vector<Op> operations_of(const TensorFunction& function) {
  std::vector<Tensor> all = function.inputs;
  all.insert(all.end(), function.outputs.begin(), function.outputs.end());
  return schedule::operations_of(all);
}

// The variables that operations use and do not define.
Exprs scalars_of(const std::vector<Op>& operations) {
  Exprs scalars;
  const auto note = [&](const Expr& e) {
    walk(e, [&](const Var& v) { scalars.emplace_back(&v); });
  };
  for (const Op& op : operations) {
    for (const Expr& scalar : scalars_in(*op)) scalars.push_back(scalar);
    for (const Expr& extent : op->shape) note(extent);
    for (const IterVar& axis : op->reduce_axes) note(axis->extent);
    for (const Buffer& buffer : op->writes) {
      for (const Expr& extent : buffer->extents) note(extent);
    }
    for (const ExternInput& input : op->reads) {
      for (const Expr& extent : input.buffer->extents) note(extent);
    }
  }
  return scalars;
}

class FunctionEquality {
 public:
  bool same(const TensorFunction& a, const TensorFunction& b) {
    const std::vector<Op> of_a = operations_of(a), of_b = operations_of(b);
    if (of_a.size() != of_b.size() || a.inputs.size() != b.inputs.size() ||
        a.outputs.size() != b.outputs.size())
      return false;
    if (!pair_symbols(symbols_in(a.inputs), symbols_in(b.inputs))) return false;
    pair_named(scalars_of(of_a), scalars_of(of_b));
    for (size_t i = 0; i < of_a.size(); ++i) {
      if (!same(*of_a[i], *of_b[i])) return false;
      known_.pair(of_a[i].get(), of_b[i].get());
    }
    return same(a.inputs, b.inputs) && same(a.outputs, b.outputs);
  }

 private:
  bool pair_symbols(const Exprs& a, const Exprs& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i]->type != b[i]->type) return false;
      known_.pair(a[i].get(), b[i].get());
      is_paired_.insert(a[i].get());
    }
    return true;
  }

  // Pairs variables of equal names and types, except symbols of the inputs.
  void pair_named(const Exprs& a, const Exprs& b) {
    for (const Expr& x : a) {
      if (!is_paired_.insert(x.get()).second) continue;
      const auto y = std::find_if(b.begin(), b.end(), [&](const Expr& each) {
        return as<Var>(each)->name == as<Var>(x)->name && each->type == x->type;
      });
      if (y != b.end()) known_.pair(x.get(), y->get());
    }
  }

  bool same(const Expr& a, const Expr& b) {
    if (!a || !b) return !a && !b;
    return equal(a, b, known_);
  }
  bool same(const Exprs& a, const Exprs& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](const Expr& x, const Expr& y) { return same(x, y); });
  }
  bool same(const Tensor& a, const Tensor& b) const {
    return a->output == b->output && known_.holds(a->producer.get(), b->producer.get());
  }
  bool same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](const Tensor& x, const Tensor& y) { return same(x, y); });
  }
  bool same(const std::vector<IterVar>& a, const std::vector<IterVar>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](const IterVar& x, const IterVar& y) {
                        known_.pair(x->var.get(), y->var.get());
                        return x->name() == y->name() && x->kind == y->kind &&
                               same(x->min, y->min) && same(x->extent, y->extent);
                      });
  }

  bool same(const Operation& a, const Operation& b) {
    if (a.kind != b.kind || a.name != b.name || a.tag != b.tag || a.types != b.types ||
        attributes_text(a) != attributes_text(b))
      return false;
    switch (a.kind) {
      case OperationKind::Placeholder:
        return same(a.shape, b.shape);
      case OperationKind::Compute:
        return same(a.axes, b.axes) && same(a.reduce_axes, b.reduce_axes) && same(a.body, b.body);
      case OperationKind::Extern:
        return same_extern(a, b);
      case OperationKind::Scan:
        return std::equal(a.states.begin(), a.states.end(), b.states.begin(), b.states.end(),
                          [&](const ScanState& x, const ScanState& y) {
                            return same(x.init, y.init) && same(x.update, y.update) &&
                                   same(x.state, y.state);
                          });
    }
    return false;
  }

  bool same_extern(const Operation& a, const Operation& b) {
    const bool same_reads = std::equal(
        a.reads.begin(), a.reads.end(), b.reads.begin(), b.reads.end(),
        [&](const ExternInput& x, const ExternInput& y) {
          return same(x.tensor, y.tensor) && equal_definitions(x.buffer, y.buffer, known_);
        });
    return same_reads &&
           std::equal(
               a.writes.begin(), a.writes.end(), b.writes.begin(), b.writes.end(),
               [&](const Buffer& x, const Buffer& y) { return equal_definitions(x, y, known_); }) &&
           equal(a.statement, b.statement, known_);
  }

  Correspondence known_;
  std::unordered_set<const ExprNode*> is_paired_;
};

class FunctionHash {
 public:
  uint64_t of(const TensorFunction& function) {
    for (const Expr& symbol : symbols_in(function.inputs)) define(symbol);
    const std::vector<Op> operations = operations_of(function);
    for (const Expr& scalar : scalars_of(operations)) {
      if (!is_defined_.insert(scalar.get()).second) continue;
      hasher_.define(scalar.get());
      hasher_.add(as<Var>(scalar)->name);
    }
    for (const Op& op : operations) add(*op);
    for (const auto* list : {&function.inputs, &function.outputs}) {
      for (const Tensor& tensor : *list) add(tensor);
    }
    return hasher_.result();
  }

 private:
  void define(const Expr& var) {
    is_defined_.insert(var.get());
    hasher_.define(var.get());
  }
  void add(const Tensor& tensor) {
    hasher_.add_use(tensor->producer.get());
    hasher_.add(static_cast<uint64_t>(tensor->output));
  }
  void add(const Exprs& list) {
    hasher_.add(list.size());
    for (const Expr& e : list) hasher_.add(e);
  }
  void add(const std::vector<IterVar>& axes) {
    hasher_.add(axes.size());
    for (const IterVar& axis : axes) {
      hasher_.add(axis->min);
      hasher_.add(axis->extent);
      hasher_.define(axis->var.get());
    }
  }

  void add(const Operation& op) {
    hasher_.add(static_cast<uint64_t>(op.kind));
    hasher_.add(op.name);
    hasher_.add(op.tag);
    hasher_.add(attributes_text(op));
    for (const Type& type : op.types) hasher_.add(to_string(type));
    switch (op.kind) {
      case OperationKind::Placeholder:
        add(op.shape);
        break;
      case OperationKind::Compute:
        add(op.axes);
        add(op.reduce_axes);
        hasher_.add(op.body);
        break;
      case OperationKind::Extern:
        for (const ExternInput& input : op.reads) {
          add(input.tensor);
          hasher_.add_definition(input.buffer);
        }
        for (const Buffer& buffer : op.writes) hasher_.add_definition(buffer);
        hasher_.add(op.statement);
        break;
      case OperationKind::Scan:
        for (const Tensor& input : op.inputs) add(input);
        break;
    }
    hasher_.define(&op);
  }

  StructuralHasher hasher_;
  std::unordered_set<const ExprNode*> is_defined_;
};

}  // namespace

bool equal(const TensorFunction& a, const TensorFunction& b) {
  return FunctionEquality().same(a, b);
}

uint64_t structural_hash(const TensorFunction& function) { return FunctionHash().of(function); }

}  // namespace texloom::schedule
