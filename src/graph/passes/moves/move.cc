#include "graph/passes/moves/move.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "graph/analysis/movement.h"
#include "graph/build_computation.h"
#include "ir/program.h"
#include "ir/visit.h"
#include "schedule/operation/operation.h"

namespace texloom::graph {
namespace {

using ir::Expr;
using ir::Exprs;

class MovedComputation {
 public:
  MovedComputation(const Move& move, const Computation& computation)
      : move_(move), computation_(computation) {}

  SharedComputation run() {
    for (const ir::Tensor& input : computation_.inputs) {
      const auto shape = numbers_of(input->shape);
      const auto before = shape ? move_.shape_before(*shape) : std::nullopt;
      if (!before) return nullptr;
      made_.inputs.push_back(
          placeholder(input->name, input->type, extents_of(*before), input->location));
      known_.emplace(input->producer.get(), made_.inputs.back());
    }
    const auto output = moved(computation_.outputs.front());
    if (!output || !computation_.symbols.empty()) return nullptr;
    made_.outputs.push_back(*output);
    return std::make_shared<const Computation>(std::move(made_));
  }

 private:
  std::optional<ir::Tensor> moved(const ir::Tensor& tensor) {
    const schedule::Op op = schedule::operation_of(tensor);
    const auto found = known_.find(op.get());
    if (found != known_.end()) return found->second;
    if (!op->is_compute() || op->types.size() != 1 || !op->reduce_axes.empty()) return std::nullopt;
    const auto shape = numbers_of(op->shape);
    const auto before = shape ? move_.shape_before(*shape) : std::nullopt;
    if (!before) return std::nullopt;
    const std::vector<ir::IterVar> axes = axes_over(extents_of(*before));
    bool can_move = true;
    const Expr body = ir::rewrite(op->body, [&](const ir::TensorRead& read, const Expr& self) {
      const auto element = can_move ? element_of(*op, read, axes) : std::nullopt;
      can_move = element.has_value();
      return element.value_or(self);
    });
    for (const ir::IterVar& axis : op->axes) can_move = can_move && !ir::uses_var(body, axis->var);
    if (!can_move) return std::nullopt;
    const ir::Tensor made = schedule::output_of(
        schedule::make_compute(op->name, op->tag, axes, body, op->location, op->attributes));
    known_.emplace(op.get(), made);
    return made;
  }

  // The element that `read`, an element at the indices of `op`, is at indices of the moved axes.
  std::optional<Expr> element_of(const schedule::Operation& op, const ir::TensorRead& read,
                                 const std::vector<ir::IterVar>& axes) {
    if (!reads_own_indices(op, read)) return std::nullopt;
    const auto source = moved(read.tensor);
    if (!source || (*source)->shape.size() > axes.size()) return std::nullopt;
    Exprs indices;
    const std::size_t missing = axes.size() - (*source)->shape.size();
    for (std::size_t i = 0; i < (*source)->shape.size(); ++i) {
      const bool is_one = ir::is_int((*source)->shape[i], 1);
      indices.push_back(is_one ? ir::make_int(0) : axes[missing + i]->var);
    }
    return ir::make_tensor_read(*source, std::move(indices), read.location);
  }

  const Move& move_;
  const Computation& computation_;
  Computation made_;
  std::map<const void*, ir::Tensor> known_;  // by the operation that computes the original
};

// The shortest runs of axes of two shapes with equally many elements.
std::vector<Run> runs_of(const ir::Shape& before, const ir::Shape& after) {
  std::vector<Run> runs;
  for (std::size_t i = 0, j = 0; i < before.size() || j < after.size();) {
    Run run;
    std::int64_t left = 1, right = 1;
    do {
      const bool takes_left = i < before.size() && (j == after.size() || left <= right);
      if (takes_left) {
        left *= before[i];
        run.before.push_back(i++);
      } else {
        right *= after[j];
        run.after.push_back(j++);
      }
    } while (left != right && (i < before.size() || j < after.size()));
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace

Move Move::inverse() const {
  Move move{after, before, runs, is_view, moves_channels};
  for (Run& run : move.runs) std::swap(run.before, run.after);
  std::ranges::sort(move.runs, {}, &Run::after);
  return move;
}

bool Move::operator==(const Move& other) const {
  return before == other.before && after == other.after && is_view == other.is_view &&
         (is_view || runs == other.runs);
}

Move permutation_of(const ir::Shape& before, const std::vector<std::size_t>& axes) {
  Move move{before, {}, {}};
  move.moves_channels = moves_channels_last(axes) || moves_channels_last(inverse(axes));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    move.after.push_back(before[axes[i]]);
    move.runs.push_back({{axes[i]}, {i}});
  }
  return move;
}

std::optional<Move> move_of(const Graph& graph, const Node& node) {
  if (node.pattern != Pattern::Injective || !is_plain(node) || node.inputs.size() != 1)
    return std::nullopt;
  const auto before = numbers_of(graph.tensors[node.inputs.front()].shape);
  const auto after = numbers_of(graph.tensors[node.outputs.front()].shape);
  if (!before || !after || std::ranges::count(*before, 0) > 0) return std::nullopt;
  if (node.is_view) return Move{*before, *after, runs_of(*before, *after), true};
  const auto order = permuted_axes(*node.computation);
  if (!order) return std::nullopt;
  return permutation_of(*before, *order);
}

bool Move::keeps_order() const {
  if (is_view) return true;
  std::size_t last = 0;
  for (const Run& run : runs) {
    const std::size_t axis = run.before.front();
    if (before[axis] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

std::optional<ir::Shape> Move::shape_before(const ir::Shape& shape) const {
  if (shape.size() > after.size()) return std::nullopt;
  const std::size_t missing = after.size() - shape.size();
  const auto extent = [&](std::size_t axis) { return axis < missing ? 1 : shape[axis - missing]; };
  ir::Shape made(before.size());
  std::vector<bool> is_missing(before.size());
  for (const Run& run : runs) {
    const auto has = [&](auto wanted) {
      return std::ranges::all_of(run.after, [&](std::size_t a) { return extent(a) == wanted(a); });
    };
    const bool is_whole = has([&](std::size_t a) { return after[a]; });
    if (!is_whole && !has([](std::size_t) { return 1; })) return std::nullopt;
    const bool is_outside =
        std::ranges::all_of(run.after, [&](std::size_t a) { return a < missing; });
    for (const std::size_t axis : run.before) {
      made[axis] = is_whole ? before[axis] : 1;
      is_missing[axis] = is_outside;
    }
  }
  std::size_t first = 0;
  while (missing > 0 && first < made.size() && is_missing[first] && made[first] == 1) ++first;
  made.erase(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(first));
  return made;
}

SharedComputation reshaped(const ir::Shape& from, const ir::Shape& to, ir::Type type) {
  const std::vector<ir::IterVar> axes = axes_over(extents_of(to));
  Exprs indices(from.size());
  for (const Run& run : runs_of(from, to)) {
    Expr place = ir::make_int(0);
    for (const std::size_t axis : run.after) {
      if (to[axis] != 1) place = place * ir::make_int(to[axis]) + axes[axis]->var;
    }
    for (std::size_t i = run.before.size(); i-- > 0;) {
      const Expr extent = ir::make_int(from[run.before[i]]);
      indices[run.before[i]] = i == 0 ? place : ir::floormod(place, extent);
      place = ir::floordiv(place, extent);
    }
  }
  return moved_elements(placeholder("in0", type, extents_of(from)), std::move(indices), axes,
                        "reshaped", kViewTag);
}

SharedComputation permuted_back(const Move& permutation, const ir::Shape& from, const ir::Shape& to,
                                ir::Type type) {
  const std::vector<ir::IterVar> axes = axes_over(extents_of(to));
  Exprs indices(from.size());
  for (const Run& run : permutation.runs)
    indices[run.after.front()] = axes[run.before.front()]->var;
  return moved_elements(placeholder("in0", type, extents_of(from)), std::move(indices), axes,
                        "transposed");
}

SharedComputation moved_before(const Move& move, const Computation& computation) {
  return MovedComputation(move, computation).run();
}

}  // namespace texloom::graph
