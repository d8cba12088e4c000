// matrices: writes a sum of products as a product of two matrices.

#include <algorithm>
#include <array>

#include "ir/arith/simplify.h"
#include "ir/reducer.h"
#include "ir/visit.h"
#include "schedule/schedule.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

namespace {

using Axes = std::vector<IterVar>;

bool contains(const Axes& axes, const IterVar& axis) {
  return std::ranges::any_of(axes, [&](const IterVar& each) { return each.same_as(axis); });
}

bool uses_any(const Expr& e, const Axes& axes) {
  return std::ranges::any_of(axes, [&](const IterVar& axis) { return uses_var(e, axis->var); });
}

// Axes that become one, and how many values of each count.
struct Fused {
  Axes axes;
  std::vector<int64_t> extents;

  Fused(const Axes& given, const std::vector<int64_t>& counted) : axes(given), extents(counted) {
    if (!extents.empty()) return;
    for (const IterVar& axis : axes) extents.push_back(*int_value(axis->extent));
  }
  int64_t count() const {
    int64_t all = 1;
    for (const int64_t extent : extents) all *= extent;
    return all;
  }
};

int64_t padded(int64_t count, int64_t multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

// The index of a fused axis.
Expr fused_index(const Fused& fused) {
  Expr index = make_int(0);
  for (size_t i = 0; i < fused.axes.size(); ++i) {
    const IterVar& axis = fused.axes[i];
    index = index * make_int(fused.extents[i]) + make_cast(kInt32, axis->var - axis->min);
  }
  return arith::simplify(index);
}

// The values of axes at an index of their fused axis, which is within their extents.
void add_values(const Fused& fused, const Expr& index, Substitution& values) {
  int64_t stride = fused.count();
  for (size_t i = 0; i < fused.axes.size(); ++i) {
    const IterVar& axis = fused.axes[i];
    stride /= fused.extents[i];
    Expr value = stride == 1 ? index : floordiv(index, make_int(stride));
    if (i > 0) value = floormod(value, make_int(fused.extents[i]));
    values.insert_or_assign(axis->var, axis->min + make_cast(axis->var->type, value));
  }
}

// The expression in the type of 16 bits from which all of its elements are converted; null if a
// value is computed in the wider type.
Expr narrowed(const Expr& e) {
  if (const auto* cast = as<Cast>(e)) {
    const Type from = cast->value->type;
    return from.is_float() && from.bits == 16 && e->type.is_float() ? cast->value : Expr();
  }
  const auto* choice = as<Select>(e);
  if (choice == nullptr) return {};
  Expr if_true = narrowed(choice->if_true), if_false = narrowed(choice->if_false);
  const auto zero_like = [](const Expr& constant, const Expr& other) {
    const auto* number = as<FloatImm>(constant);
    const bool is_zero = number != nullptr && number->value == 0 && other;
    return is_zero ? make_const(0, other->type) : Expr();
  };
  if (!if_true) if_true = zero_like(choice->if_true, if_false);
  if (!if_false) if_false = zero_like(choice->if_false, if_true);
  if (!if_true || !if_false || if_true->type != if_false->type) return {};
  return make_select(choice->condition, if_true, if_false, e->location);
}

// A product of two factors, and the axes of each.
class Factors {
 public:
  Factors(const Schedule& schedule, const Stage& stage, const Schedule::MatrixForm& form,
          const SourceLocation& where)
      : schedule_(schedule), stage_(stage), where_(where) {
    const auto* reduce = as<Reduce>(stage.op->body);
    const bool is_sum = reduce != nullptr && reduce->sources.size() == 1 && !reduce->condition &&
                        reduce->init.empty() && is_addition(reduce->reducer);
    if (!is_sum || form.steps.size() != stage.op->reduce_axes.size()) {
      refuse("it is no plain sum over all of its reduction axes");
    }
    const auto* product = as<Binary>(reduce->sources.front());
    if (product == nullptr || product->op != BinaryOp::Mul) refuse("its terms are no products");
    left_ = product->a;
    right_ = product->b;
    if (uses_any(left_, form.columns) || uses_any(right_, form.rows)) std::swap(left_, right_);
    if (uses_any(left_, form.columns) || uses_any(right_, form.rows)) {
      refuse("a factor depends on both rows and columns");
    }
    for (const auto* axes : {&form.rows, &form.columns, &form.steps}) {
      for (const IterVar& axis : *axes) check(axis);
    }
  }

  Expr left() const { return own_type(inlined(left_)); }
  Expr right() const { return own_type(inlined(right_)); }

 private:
  static bool is_addition(const Reducer& reducer) {
    if (reducer.results.size() != 1) return false;
    const auto* sum = as<Binary>(reducer.results.front());
    return sum != nullptr && sum->op == BinaryOp::Add;
  }
  static Expr own_type(const Expr& e) {
    const Expr narrow = narrowed(e);
    return narrow ? narrow : e;
  }

  // The factor with the expressions of stages that are inlined.
  Expr inlined(const Expr& e) const {
    return rewrite(e, [&](const TensorRead& n, const Expr& self) -> Expr {
      const Stage& read = schedule_.stage(schedule_.producer(n.tensor));
      if (read.attachment.kind != AttachKind::Inline || !read.op->is_compute()) return self;
      Substitution values;
      for (size_t i = 0; i < n.indices.size(); ++i) {
        const Expr& var = read.op->axes[i]->var;
        values.emplace(var, make_cast(var->type, n.indices[i]));
      }
      return inlined(
          substitute(values_of(read.op->body)[static_cast<size_t>(n.tensor->output)], values));
    });
  }

  void check(const IterVar& axis) const {
    const bool own = contains(stage_.op->axes, axis) || contains(stage_.op->reduce_axes, axis);
    if (!own) {
      fail(where_, Code::ForeignAxis, "name axes of s[T].op.axis and s[T].op.reduce_axis",
           "matrices of '{}': '{}' is not an axis of it", stage_.name(), axis->name());
    }
    if (int_value(axis->extent) == nullptr || int_value(axis->min) == nullptr) {
      refuse(fmt::format("the extent of '{}' is not constant", axis->name()));
    }
  }

  [[noreturn]] void refuse(const std::string& problem) const {
    fail(where_, Code::BadMatrices,
         "give a te.sum of a * b over all of its reduction axes, where `a` depends on no column "
         "and `b` on no row",
         "'{}' is no product of matrices: {}", stage_.name(), problem);
  }

  const Schedule& schedule_;
  const Stage& stage_;
  const SourceLocation& where_;
  Expr left_, right_;
};

// A factor as a stage: a matrix for each index of the batch.
struct Matrix {
  std::string name;
  const Fused &down, &across;  // the axes that its rows and its columns stand for
  int64_t rows, columns;       // with zeros after the last ones
  const Axes& batch;
};

Axes copied(const Axes& axes, const SourceLocation& where) {
  Axes copies;
  for (const IterVar& axis : axes) {
    copies.push_back(make_iter_var(make_var(axis->name(), axis->var->type, where), axis->min,
                                   axis->extent, IterKind::Data, where));
  }
  return copies;
}

IterVar range(const std::string& name, int64_t extent, IterKind kind, const SourceLocation& where) {
  return make_iter_var(make_var(name, kInt32, where), make_int(0), make_int(extent), kind, where);
}

Op matrix_of(const Expr& factor, const Matrix& matrix, const SourceLocation& where) {
  Axes axes = copied(matrix.batch, where);
  Substitution values;
  for (size_t i = 0; i < axes.size(); ++i) values.emplace(matrix.batch[i]->var, axes[i]->var);
  Expr inside;
  const auto add = [&](const std::string& name, const Fused& fused, int64_t extent) {
    axes.push_back(range(name, extent, IterKind::Data, where));
    const Expr& index = axes.back()->var;
    add_values(fused, index, values);
    if (fused.count() == extent) return;
    const Expr within = index < make_int(fused.count());
    inside = inside ? inside && within : within;
  };
  add("row", matrix.down, matrix.rows);
  add("column", matrix.across, matrix.columns);
  Expr value = substitute(factor, values);
  if (inside) value = make_select(inside, value, make_const(0, value->type));
  return make_compute(matrix.name, "", std::move(axes), std::move(value), where);
}

// Whether the last of the axes is along the last axis of a tensor that the factor reads.
bool is_along_last(const Expr& factor, const Axes& axes) {
  bool along = false;
  walk(factor, [&](const TensorRead& n) {
    along = along || (!n.indices.empty() && uses_any(n.indices.back(), {axes.back()}));
  });
  return along;
}

}  // namespace

Schedule::Matrices Schedule::matrices(const Tensor& tensor, const MatrixForm& form,
                                      const SourceLocation& where) {
  const StageId id = stage_of(tensor, where, "matrices");
  const Stage& own = stage_for(id, where, "matrices");
  refuse_scan(own, "matrices", where);
  refuse_part_of_scan(own, "matrices", where);
  if (!own.relations.empty()) {
    fail(where, Code::BadMatrices, "call matrices before any directive on the stage's loops",
         "cannot apply matrices to '{}': its loops are already scheduled", own.name());
  }
  const bool has_extents = form.row_extents.empty() || form.row_extents.size() == form.rows.size();
  const auto is_positive = [](int64_t n) { return n >= 1; };
  if (form.rows.empty() || form.columns.empty() || !has_extents ||
      !std::ranges::all_of(form.multiples, is_positive) ||
      !std::ranges::all_of(form.row_extents, is_positive)) {
    fail(where, Code::BadMatrices,
         "name rows and columns, an extent for each axis of rows or none, and positive multiples",
         "matrices of '{}' have no rows or columns, or no positive extents", own.name());
  }
  const Factors factors(*this, own, form, where);
  const Op old = own.op;
  const Fused rows(form.rows, form.row_extents), columns(form.columns, {}), steps(form.steps, {});
  const int64_t m = padded(rows.count(), form.multiples[0]);
  const int64_t n = padded(columns.count(), form.multiples[1]);
  const int64_t k = padded(steps.count(), form.multiples[2]);
  Axes batch;
  for (const IterVar& axis : old->axes) {
    if (!contains(rows.axes, axis) && !contains(columns.axes, axis)) batch.push_back(axis);
  }
  const Expr a = factors.left(), b = factors.right();
  const bool left_transposed =
      form.transposed[0].value_or(is_along_last(a, rows.axes) && !is_along_last(a, steps.axes));
  const bool right_transposed =
      form.transposed[1].value_or(is_along_last(b, steps.axes) && !is_along_last(b, columns.axes));
  const Matrix of_left{
      old->name + ".left",     left_transposed ? steps : rows, left_transposed ? rows : steps,
      left_transposed ? k : m, left_transposed ? m : k,        batch};
  const Matrix of_right{old->name + ".right",
                        right_transposed ? columns : steps,
                        right_transposed ? steps : columns,
                        right_transposed ? n : k,
                        right_transposed ? k : n,
                        batch};
  const Op left = matrix_of(a, of_left, where), right = matrix_of(b, of_right, where);

  Axes axes = copied(batch, where);
  Exprs outer;
  for (const IterVar& axis : axes) outer.push_back(axis->var);
  axes.push_back(range("row", m, IterKind::Data, where));
  axes.push_back(range("column", n, IterKind::Data, where));
  const Expr row = axes[axes.size() - 2]->var, column = axes.back()->var;
  const IterVar step = range("step", k, IterKind::Reduction, where);
  const auto element = [&](const Op& matrix, bool transposed, Expr down, Expr across) {
    if (transposed) std::swap(down, across);
    Exprs indices = outer;
    indices.insert(indices.end(), {down, across});
    return make_cast(tensor->type, read(outputs_of(matrix).front(), indices, where));
  };
  const auto& whole = *as<Reduce>(old->body);
  const Expr product = element(left, left_transposed, row, step->var) *
                       element(right, right_transposed, step->var, column);
  const Op sums =
      make_compute(old->name + ".product", old->tag, axes,
                   make_reduce(whole.reducer, {product}, {step}, {}, {}, where), old->location);

  auto place = static_cast<size_t>(std::find(order_.begin(), order_.end(), id) - order_.begin());
  for (const Op& op : {left, right, sums}) join_step(add_stage(op, place++));
  const Tensor made = outputs_of(sums).front();
  Exprs indices;
  for (const IterVar& axis : batch) indices.push_back(axis->var);
  indices.insert(indices.end(), {fused_index(rows), fused_index(columns)});
  set_body(id, read(made, std::move(indices), where));
  stage(id).reset_loops();
  return {outputs_of(left).front(), outputs_of(right).front(), made};
}

}  // namespace texloom::schedule
