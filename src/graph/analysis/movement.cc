#include "graph/analysis/movement.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ir/arith/simplify.h"
#include "ir/equal.h"
#include "ir/program.h"

namespace texloom::graph {
namespace {

using ir::Expr;
using ir::Exprs;

// The only stage of a computation with one output, if the stage has this tag; else null.
const schedule::Operation* tagged_stage(const Computation& computation, std::string_view tag) {
  if (computation.outputs.size() != 1) return nullptr;
  const schedule::Op op = schedule::operation_of(computation.outputs.front());
  if (!op->is_compute() || op->tag != tag || op->types.size() != 1 || !op->reduce_axes.empty())
    return nullptr;
  for (const ir::Tensor& input : op->inputs) {
    if (!schedule::operation_of(input)->is_placeholder()) return nullptr;
  }
  return op.get();  // the computation keeps it alive
}

// An index along an axis, or along several axes that are merged into one.
struct Place {
  Expr index, extent;
};

// Merges the places along two axes if their indices are the quotient and the remainder of one
// number. The arithmetic of indices does not simplify this case if the divisor is a symbol.
std::optional<Place> merged(const Place& outer, const Place& inner) {
  const auto* quotient = ir::as<ir::Binary>(outer.index);
  const auto* remainder = ir::as<ir::Binary>(inner.index);
  if (quotient == nullptr || quotient->op != ir::BinaryOp::FloorDiv || remainder == nullptr ||
      remainder->op != ir::BinaryOp::FloorMod || !ir::equal(quotient->a, remainder->a) ||
      !ir::equal(quotient->b, remainder->b) || !ir::equal(remainder->b, inner.extent))
    return std::nullopt;
  return Place{quotient->a, outer.extent * inner.extent};
}

// The number of an element among all elements, in row-major order.
Expr raveled(const Exprs& indices, const Exprs& extents) {
  std::vector<Place> places;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const Place place{indices[i], extents[i]};
    const auto both = places.empty() ? std::nullopt : merged(places.back(), place);
    if (both) {
      places.back() = *both;
    } else {
      places.push_back(place);
    }
  }
  Expr number = ir::make_int(0);
  for (const Place& place : places) number = number * place.extent + place.index;
  return number;
}

Exprs indices_of(const schedule::Operation& op) {
  Exprs indices;
  for (const ir::IterVar& axis : op.axes) indices.push_back(axis->var);
  return indices;
}

ir::arith::Ranges ranges_of(const schedule::Operation& op) {
  ir::arith::Ranges ranges;
  for (const ir::IterVar& axis : op.axes) ranges.enter(axis->var, axis->extent);
  return ranges;
}

// A number of elements: a product of numbers and of symbolic factors.
struct Count {
  std::uint64_t number = 1;
  Exprs factors = {};

  void multiply(const Expr& e) {
    const auto* binary = ir::as<ir::Binary>(e);
    if (const std::int64_t* value = ir::int_value(e)) {
      number *= static_cast<std::uint64_t>(*value);
    } else if (binary != nullptr && binary->op == ir::BinaryOp::Mul) {
      multiply(binary->a);
      multiply(binary->b);
    } else {
      factors.push_back(e);
    }
  }
};

Count count_of(const Exprs& extents) {
  Count count;
  for (const Expr& extent : extents) count.multiply(extent);
  return count;
}

// Whether two shapes have different numbers of elements for all values of the symbols. False if
// this is not known, for example of the extents n and m.
bool differ_in_count(const Exprs& a, const Exprs& b) {
  const Count first = count_of(a), second = count_of(b);
  return first.number != second.number &&
         std::is_permutation(first.factors.begin(), first.factors.end(), second.factors.begin(),
                             second.factors.end(),
                             [](const Expr& x, const Expr& y) { return ir::equal(x, y); });
}

bool are_numbers(const Exprs& extents) {
  return std::ranges::all_of(extents, [](const Expr& e) { return ir::int_value(e) != nullptr; });
}

// The axis whose index a condition compares with a number: i < 4.
std::optional<std::size_t> compared_axis(const schedule::Operation& op, const Expr& condition,
                                         std::int64_t number) {
  const auto* less = ir::as<ir::Binary>(condition);
  if (less == nullptr || less->op != ir::BinaryOp::Lt || !ir::is_int(less->b, number))
    return std::nullopt;
  for (std::size_t i = 0; i < op.axes.size(); ++i) {
    if (less->a.same_as(op.axes[i]->var)) return i;
  }
  return std::nullopt;
}

// Whether an expression is the element of a part that begins at `begin` along the axis.
bool reads_part(const schedule::Operation& op, const Expr& e, const ir::Tensor& part,
                std::size_t axis, std::int64_t begin) {
  const auto* read = ir::as<ir::TensorRead>(e);
  if (read == nullptr || !read->tensor->same_tensor(*part)) return false;
  const ir::arith::Ranges ranges = ranges_of(op);
  for (std::size_t i = 0; i < op.axes.size(); ++i) {
    const Expr& own = op.axes[i]->var;
    const Expr& index = read->indices[i];
    const bool is_in_place = i == axis
                                 ? ir::arith::prove_equal(index + ir::make_int(begin), own, ranges)
                                 : index.same_as(own);
    if (!is_in_place) return false;
  }
  return true;
}

// Whether the computation is: i < 4 ? in0[i] : i < 6 ? in1[i - 4] : in2[i - 6], along this axis.
bool joins_along(const schedule::Operation& op, const std::vector<ir::Tensor>& parts,
                 std::size_t axis) {
  Expr rest = op.body;
  std::int64_t begin = 0;
  for (std::size_t n = 0; n < parts.size(); ++n) {
    for (std::size_t i = 0; i < op.shape.size(); ++i) {
      if (i != axis && *ir::int_value(parts[n]->shape[i]) != *ir::int_value(op.shape[i]))
        return false;
    }
    const std::int64_t end = begin + *ir::int_value(parts[n]->shape[axis]);
    Expr element = rest;
    if (n + 1 < parts.size()) {
      const auto* select = ir::as<ir::Select>(rest);
      if (select == nullptr || compared_axis(op, select->condition, end) != axis) return false;
      element = select->if_true;
      rest = select->if_false;
    }
    if (!reads_part(op, element, parts[n], axis, begin)) return false;
    begin = end;
  }
  return begin == *ir::int_value(op.shape[axis]);
}

}  // namespace

bool is_view(const Computation& computation) {
  const schedule::Operation* op = tagged_stage(computation, kViewTag);
  if (op == nullptr || computation.inputs.size() != 1) return false;
  const ir::Tensor& input = computation.inputs.front();
  const auto* read = ir::as<ir::TensorRead>(op->body);
  return read != nullptr && read->tensor->same_tensor(*input) &&
         !differ_in_count(input->shape, op->shape) &&
         ir::arith::prove_equal(raveled(read->indices, input->shape),
                                raveled(indices_of(*op), op->shape), ranges_of(*op));
}

bool reads_own_indices(const schedule::Operation& op, const ir::TensorRead& read) {
  const std::size_t rank = read.indices.size();
  if (rank > op.axes.size()) return false;
  for (std::size_t i = 0; i < rank; ++i) {
    const bool is_own = read.indices[i].same_as(op.axes[op.axes.size() - rank + i]->var);
    const bool is_one = ir::is_int(read.indices[i], 0) && ir::is_int(read.tensor->shape[i], 1);
    if (!is_own && !is_one) return false;
  }
  return true;
}

std::optional<std::vector<std::size_t>> permuted_axes(const Computation& computation) {
  if (computation.inputs.size() != 1 || computation.outputs.size() != 1) return std::nullopt;
  const schedule::Op op = schedule::operation_of(computation.outputs.front());
  const bool is_plain = op->is_compute() && op->types.size() == 1;
  const auto* read = is_plain ? ir::as<ir::TensorRead>(op->body) : nullptr;
  if (read == nullptr || !read->tensor->same_tensor(*computation.inputs.front()) ||
      read->indices.size() != op->axes.size())
    return std::nullopt;
  std::vector<std::size_t> order;
  for (const ir::IterVar& axis : op->axes) {
    const auto found = std::ranges::find_if(
        read->indices, [&](const Expr& index) { return index.same_as(axis->var); });
    if (found == read->indices.end()) return std::nullopt;
    const auto from = static_cast<std::size_t>(found - read->indices.begin());
    if (!ir::equal(read->tensor->shape[from], axis->extent)) return std::nullopt;  // a slice
    order.push_back(from);
  }
  return order;
}

bool moves_channels_last(const std::vector<std::size_t>& axes) {
  if (axes.size() < 3 || axes.front() != 0 || axes.back() != 1) return false;
  for (std::size_t i = 1; i + 1 < axes.size(); ++i) {
    if (axes[i] != i + 1) return false;
  }
  return true;
}

std::vector<std::size_t> inverse(const std::vector<std::size_t>& axes) {
  std::vector<std::size_t> made(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) made[axes[i]] = i;
  return made;
}

std::optional<std::size_t> joined_axis(const Computation& computation) {
  const schedule::Operation* op = tagged_stage(computation, kJoinedTag);
  const std::vector<ir::Tensor>& parts = computation.inputs;
  if (op == nullptr || parts.size() < 2 || !are_numbers(op->shape)) return std::nullopt;
  for (const ir::Tensor& part : parts) {
    if (part->shape.size() != op->shape.size() || !are_numbers(part->shape)) return std::nullopt;
  }
  for (std::size_t axis = 0; axis < op->axes.size(); ++axis) {
    if (joins_along(*op, parts, axis)) return axis;
  }
  return std::nullopt;
}

}  // namespace texloom::graph
