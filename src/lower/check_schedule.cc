#include "lower/check_schedule.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "ir/arith/linear.h"
#include "ir/arith/simplify.h"
#include "ir/evaluation.h"
#include "ir/visit.h"
#include "lower/double_buffers.h"
#include "lower/symbols.h"
#include "schedule/attach.h"
#include "schedule/axis_values.h"
#include "schedule/extern_operation.h"

namespace texloom::lower {

using namespace ir;        // the whole file speaks of IR nodes
using namespace schedule;  // and of a schedule's stages
using schedule::Stage;     // not the pipeline's

namespace {

class Checker {
 public:
  explicit Checker(const Lowering& lowering) : lowering_(lowering), s_(lowering.schedule) {}

  void run() {
    check_arguments();
    for (const StageId id : s_.order()) {
      const Stage& stage = s_.stage(id);
      check_texture(stage);
      check_types(stage);
      if (stage.op->is_extern()) {
        check_extern(stage);
        check_predicate(stage);
        check_pipeline(stage);
      }
      if (!stage.op->is_compute() || stage.attachment.kind == AttachKind::Inline) continue;
      check_vectorized(stage);
      check_threads(stage);
      check_shared_reduction(stage);
      check_predicate(stage);
      check_visibility(stage);
      check_pipeline(stage);
      check_reads(stage);
    }
    sink_.throw_if_errors();
    for (const StageId id : s_.order()) {
      extents_of(s_.stage(id).op->shape, s_.stage(id).name(), s_.stage(id).op->location);
    }
    check_symbols(lowering_);
  }

 private:
  template <class... Args>
  void error(const SourceLocation& where, Code code, std::string help,
             fmt::format_string<Args...> format, Args&&... args) {
    sink_.report({Severity::Error,
                  code,
                  where,
                  fmt::format(format, std::forward<Args>(args)...),
                  std::move(help),
                  {}});
  }

  void check_arguments() {
    std::set<std::pair<StageId, int>> seen;
    for (const Argument& argument : lowering_.arguments) {
      const std::string& name = argument.tensor->name;
      const auto id = s_.find(operation_of(argument.tensor));
      if (!id) continue;  // a parameter that nothing reads or writes
      if (!seen.emplace(*id, argument.tensor->output).second) {
        error(lowering_.location, Code::BadArguments, "name each argument once",
              "the argument '{}' is named twice", name);
      }
      check_copied(argument, s_.stage(*id));
      if (argument.declaration) check_declaration(argument);
    }
    for (const StageId id : s_.order()) {
      const Stage& stage = s_.stage(id);
      if (!stage.op->is_placeholder() || seen.contains({id, 0})) continue;
      error(lowering_.location, Code::BadArguments,
            fmt::format("add '{}' to the argument list", stage.name()),
            "the input '{}' is not among the arguments", stage.name());
    }
  }

  // What is computed inside a reader is copied to the caller's array from there; of what is inlined
  // nothing is.
  void check_copied(const Argument& argument, const Stage& stage) {
    if (stage.attachment.kind == AttachKind::Root) return;
    if (argument.declaration &&
        (argument.declaration->scope.texture || argument.declaration->layout ||
         argument.declaration->has_origin)) {
      error(argument.declaration->location, Code::BadBinding,
            "leave the stage at the root, or declare a row-major buffer",
            "the argument '{}' is {}, so that nothing writes it as a texture or by a layout",
            stage.name(),
            stage.attachment.kind == AttachKind::Inline ? "inlined" : "computed inside a reader");
    }
    if (stage.attachment.kind == AttachKind::At && (stage.pipeline || stage.double_buffered)) {
      error(stage.pipeline ? stage.pipeline->location : stage.double_buffer_location,
            Code::BadArguments, "leave it out of the arguments, or compute it where it is read",
            "the argument '{}' is computed ahead of its readers, from where it is not copied out",
            stage.name());
    }
  }

  void check_declaration(const Argument& argument) {
    const BufferDeclaration& d = *argument.declaration;
    const Exprs& extents = argument.tensor->shape;
    const bool same_shape =
        std::equal(d.shape.begin(), d.shape.end(), extents.begin(), extents.end(),
                   [](int64_t declared, const Expr& extent) { return is_int(extent, declared); });
    std::vector<std::string> shape;
    for (const Expr& extent : extents) shape.push_back(ir::to_string(extent));
    if (d.type == argument.tensor->type && same_shape && d.scope.memory == MemoryScope::Global) {
      return;
    }
    error(d.location, Code::BadBinding,
          "declare it with the tensor's shape and dtype, in global memory or a texture",
          "the tensor '{}' is {}[{}], but its buffer is declared as {}[{}] in {}",
          argument.tensor->name, to_string(argument.tensor->type), fmt::join(shape, ", "),
          to_string(d.type), fmt::join(d.shape, ", "), to_string(d.scope));
  }

  void check_texture(const Stage& stage) {
    if (!scope_of_stage(stage).texture) return;
    if (!lowering_.target.images) {
      error(stage.scope_location, Code::NoImages, "keep the tensor in a buffer",
            "'{}' is to lie in a texture, but the target '{}' has no images", stage.name(),
            to_string(lowering_.target));
    }
    for (const Type type : stage.op->types) {
      if (is_texel_type(type)) continue;
      error(stage.scope_location, Code::TextureElementType,
            "textures hold float16, float32 and integers of 8, 16 and 32 bits: cast the tensor, "
            "or keep it in a buffer",
            "'{}' has elements of type {}, which no texture can hold", stage.name(),
            to_string(type));
    }
    const bool any_rank = stage.layout.has_value();
    if (stage.op->shape.empty() || (stage.op->shape.size() > kMaxTextureRank && !any_rank)) {
      error(stage.scope_location, Code::BadShape, "use a buffer for it",
            "'{}' has {} axes; a texture holds tensors of 1 to {}", stage.name(),
            stage.op->shape.size(), kMaxTextureRank);
    }
    if (!stage.op->reduce_axes.empty()) {
      error(stage.scope_location, Code::TextureReduction,
            fmt::format("accumulate in registers first: s.cache_write({}, \"local\")",
                        stage.origin->name),
            "the reduction '{}' would read and write its texture for each step", stage.name());
    }
    if (stage.attachment.kind == AttachKind::At) {
      error(stage.attachment.location, Code::TextureInsideReader,
            "leave the texture stage at the root, where it becomes a kernel of its own, or cache "
            "into \"local\" or \"shared\"",
            "the texture '{}' is computed inside '{}': a kernel cannot read a texture it writes",
            stage.name(), s_.stage(stage.attachment.stage).name());
    }
  }

  // Reported where the type comes in, not at everything that is computed from it.
  void check_types(const Stage& stage) {
    const auto is_double = [](Type type) { return type.element() == Type::f(64); };
    const std::vector<Tensor>& inputs = stage.op->inputs;
    const bool comes_in = std::none_of(inputs.begin(), inputs.end(),
                                       [&](const Tensor& t) { return is_double(t->type); });
    if (lowering_.target.float64 || !comes_in) return;
    bool found = std::any_of(stage.op->types.begin(), stage.op->types.end(), is_double);
    const auto see = [&](const ExprNode& n) { found = found || is_double(n.type); };
    if (stage.op->is_compute()) walk(stage.op->body, see);
    if (stage.op->is_extern()) walk(stage.op->statement, see);
    if (!found) return;
    error(stage.op->location, Code::UnsupportedType, "compute it in float32",
          "'{}' is in float64, which the target '{}' does not have", stage.name(),
          to_string(lowering_.target));
  }

  void check_extern(const Stage& stage) {
    if (stage.attachment.kind == AttachKind::At) {
      error(stage.attachment.location, Code::ExternPlace, "leave it at the root",
            "the extern '{}' is computed inside '{}', but its statement writes all of its outputs",
            stage.name(), s_.stage(stage.attachment.stage).name());
      return;
    }
    if (scope_of_stage(stage) != StorageScope{} || stage.layout) {
      error(stage.scope_location, Code::ExternPlace,
            "write to a buffer, and copy from there with cache_read",
            "the statement of the extern '{}' writes elements in global memory, not in '{}'",
            stage.name(), to_string(scope_of_stage(stage)));
    }
    if (has_threads(*stage.op)) return;
    error(stage.op->location, Code::UnboundStage,
          "put its statements under ib.scope_attr(te.thread_axis(\"blockIdx.x\"), "
          "\"thread_extent\", n)",
          "the statement of the extern '{}' is bound to no thread; did you forget to bind it?",
          stage.name());
  }

  StorageScope scope_of_stage(const Stage& stage) const {
    return stage.op->is_placeholder() ? stage.scope.value_or(StorageScope{})
                                      : scope_of(s_, stage.id);
  }

  void check_vectorized(const Stage& stage) {
    for (const IterVar& leaf : stage.leaves) {
      const AxisAttributes* attributes = stage.attributes_of(leaf);
      if (attributes == nullptr || attributes->loop != LoopKind::Vectorized) continue;
      if (has_constant_extent(stage, leaf)) continue;
      error(attributes->location, Code::VectorizeExtent,
            "split the axis by a constant and vectorize the inner part",
            "vectorize of '{}' of '{}', whose extent is not constant", leaf->name(), stage.name());
    }
  }

  // The stage's own loops: each thread tag once, and each axis of virtual threads.
  void check_threads(const Stage& stage) {
    std::vector<IterVar> seen;
    for (const IterVar& leaf : stage.leaves) {
      const IterVar thread = thread_of(s_, {stage.id, leaf});
      if (!thread) continue;
      const bool twice = std::any_of(seen.begin(), seen.end(), [&](const IterVar& other) {
        return is_one_thread_axis(thread, other);
      });
      if (twice) {
        error(stage.attributes_of(leaf)->location, Code::NestedThread,
              "bind each thread axis to one axis of a stage, or fuse the axes",
              "two axes of '{}' are bound to {}, '{}' being the second", stage.name(),
              thread->name(), leaf->name());
      }
      seen.push_back(thread);
    }
  }

  // Of a reduction that threads share: they meet once for each element, all data loops outside.
  void check_shared_reduction(const Stage& stage) {
    for (const IterVar& leaf : stage.leaves) {
      const IterVar thread = thread_of(s_, {stage.id, leaf});
      if (!thread || leaf->kind != IterKind::Reduction) continue;
      const SourceLocation& where = stage.attributes_of(leaf)->location;
      check_data_outside(stage, leaf, *thread, where);
      if (scope_of_stage(stage).memory != MemoryScope::Local) continue;
      for (const LoopRef& outer : enclosing_loops(s_, stage.id)) {
        const IterVar other = thread_of(s_, outer);
        if (!other || !is_one_thread_axis(thread, other)) continue;
        error(where, Code::ThreadReductionOrder,
              "attach it outside of that loop, or set its scope to \"shared\"",
              "the reduction axis '{}' of '{}' is bound to {}, but '{}' is computed inside a loop "
              "of '{}' over the same threads, each of which wants elements of its own",
              leaf->name(), stage.name(), thread->name(), stage.name(),
              s_.stage(outer.stage).name());
      }
    }
  }

  // Of which threads it speaks is seen when their numbers are known (store_predicate.h).
  void check_predicate(const Stage& stage) {
    if (!stage.predicate) return;
    if (stage.op->is_extern()) {
      error(stage.predicate_location, Code::BadPredicate,
            "put the stores of the statement under ib.if_scope(condition)",
            "a store predicate of the extern '{}', whose statement says itself what is stored",
            stage.name());
    } else if (scope_of_stage(stage).memory == MemoryScope::Local) {
      error(stage.predicate_location, Code::BadPredicate,
            "leave the predicate out, or set it on the stage that writes to global memory",
            "'{}' lies in local memory, where every thread keeps the result for itself",
            stage.name());
    }
  }

  void check_data_outside(const Stage& stage, const IterVar& reduction, const IterVarNode& thread,
                          const SourceLocation& where) {
    bool inside = false;
    for (const IterVar& leaf : stage.leaves) {
      inside = inside || leaf->kind == IterKind::Reduction;
      if (!inside || !comes_from_data(stage, leaf)) continue;
      error(where, Code::ThreadReductionOrder,
            "reorder the axes so that all data axes stand outside of the reduction",
            "the reduction axis '{}' of '{}' is bound to {}, but the data axis '{}' stands inside "
            "the reduction",
            reduction->name(), stage.name(), thread.name(), leaf->name());
      return;
    }
  }

  // An inner part of a split by a factor is constant whatever the axis is.
  static bool has_constant_extent(const Stage& stage, const IterVar& axis) {
    for (const Relation& r : stage.relations) {
      if (const auto* split = std::get_if<SplitRelation>(&r)) {
        const bool inner = split->inner.same_as(axis), outer = split->outer.same_as(axis);
        if ((inner && split->factor > 0) || (outer && split->nparts > 0)) return true;
        if (inner || outer) return has_constant_extent(stage, split->parent);
      } else if (const auto& fuse = std::get<FuseRelation>(r); fuse.fused.same_as(axis)) {
        return has_constant_extent(stage, fuse.outer) && has_constant_extent(stage, fuse.inner);
      }
    }
    return axis->extent && int_value(axis->extent) != nullptr;
  }

  void check_visibility(const Stage& stage) {
    const StorageScope scope = scope_of_stage(stage);
    if (stage.attachment.kind == AttachKind::Root && scope.memory != MemoryScope::Global) {
      error(stage.scope_location, Code::ScopeTooNarrow,
            "attach it to a loop of a stage that reads it: s[cache].compute_at(s[reader], axis)",
            "'{}' lies in {} memory but is computed at the root, in a kernel of its own that no "
            "reader shares",
            stage.name(), to_string(scope.memory));
    }
    if (stage.attachment.kind == AttachKind::At && scope.memory == MemoryScope::Global &&
        !scope.texture) {
      error(stage.attachment.location, Code::ScopeTooWide,
            "set its scope to \"local\" or \"shared\", or leave it at the root",
            "'{}' lies in global memory, which the whole grid shares, but is computed inside '{}'",
            stage.name(), s_.stage(stage.attachment.stage).name());
    }
  }

  // A pipelined stage runs ahead of a loop whose iterations follow one another.
  void check_pipeline(const Stage& stage) {
    if (!stage.pipeline) return;
    const SourceLocation& where = stage.pipeline->location;
    if (stage.attachment.kind != AttachKind::At) {
      error(where, Code::CannotPipeline,
            "attach it to a loop of a stage that reads it: s[cache].compute_at(s[reader], axis)",
            "'{}' is pipelined, but is attached to no loop that it could run ahead of",
            stage.name());
      return;
    }
    const Stage& host = s_.stage(stage.attachment.stage);
    const IterVar loop = leaf_of(host, stage.attachment.axis);
    const AxisAttributes* attributes = host.attributes_of(loop);
    const LoopKind kind = attributes == nullptr ? LoopKind::Serial : attributes->loop;
    if (kind != LoopKind::Serial && kind != LoopKind::Unrolled) {
      error(where, Code::CannotPipeline, "attach it to a loop that is serial or unrolled",
            "'{}' is pipelined, but the iterations of the loop '{}' of '{}', which it is attached "
            "to, do not follow one another",
            stage.name(), loop->name(), host.name());
    }
    // Its last iteration stands behind the loop.
    for (const StageId doubled : double_buffered_at(s_, {host.id, loop})) {
      error(where, Code::CannotPipeline, "pipeline both, or neither of them",
            "'{}' is pipelined at the loop '{}' of '{}', at which '{}' has double buffers",
            stage.name(), loop->name(), host.name(), s_.stage(doubled).name());
    }
  }

  // Indices over the whole domain of the axes; a read under a condition is trusted to be guarded.
  void check_reads(const Stage& stage) {
    arith::Ranges ranges;
    for (const auto* axes : {&stage.op->axes, &stage.op->reduce_axes}) {
      for (const IterVar& axis : *axes) {
        const int64_t* min = int_value(axis->min);
        const int64_t* extent = int_value(axis->extent);
        if (min && extent) ranges.set(axis->var, {*min, *min + *extent - 1});
      }
    }
    const auto* reduce = as<Reduce>(stage.op->body);
    if (reduce != nullptr && reduce->condition) return;
    check_evaluated(stage.op->body, stage, ranges);
  }

  // What is evaluated at every point.
  void check_evaluated(const Expr& e, const Stage& stage, const arith::Ranges& ranges) {
    if (const auto* n = as<TensorRead>(e)) {
      for (size_t i = 0; i < n->indices.size(); ++i) check_index(*n, i, stage, ranges);
    }
    if (const auto* n = as<Binary>(e)) check_overflow(*n, e, stage, ranges);
    int operand = 0;
    for_each_child(e, [&](const Expr& child) {
      if (always_evaluates(e, operand++)) check_evaluated(child, stage, ranges);
    });
  }

  // Arithmetic of axes does not wrap: it is what lowering reasons about. That of values read from
  // memory may.
  void check_overflow(const Binary& n, const Expr& self, const Stage& stage,
                      const arith::Ranges& ranges) {
    const bool grows = n.op == BinaryOp::Add || n.op == BinaryOp::Sub || n.op == BinaryOp::Mul;
    if (!grows || n.type != kInt32 || overflowed_.contains(stage.id)) return;
    const arith::LinearSum sum = arith::linear_sum(self, ranges);
    const arith::Interval range = sum.bounds(ranges);
    if (arith::reads_memory(sum) || !range.bounded() || range.within(INT32_MIN, INT32_MAX)) return;
    overflowed_.insert(stage.id);
    error(n.location.known() ? n.location : stage.op->location, Code::IndexTooLarge,
          "cast an axis to int64 first: .astype(\"int64\"); or to uint32 if it shall wrap",
          "'{}' computes values from {} to {} of its axes, which int32 does not hold", stage.name(),
          range.min, range.max);
  }

  void check_index(const TensorRead& n, size_t i, const Stage& stage, const arith::Ranges& ranges) {
    const int64_t* extent = int_value(n.tensor->shape[i]);
    const Expr index = arith::simplify(n.indices[i], ranges);
    const arith::Interval range = arith::bounds(index, ranges);
    if (extent == nullptr || !range.bounded() || range.within(0, *extent - 1)) return;
    const bool outside = range.max < 0 || range.min >= *extent;
    if (!outside && !has_exact_bounds(index)) return;
    error(stage.op->location, Code::OutOfBounds,
          "guard the read with te.if_then_else, or shrink the axes",
          "'{}' reads axis {} of '{}' at indices {} to {}, but it has the indices 0 to {}",
          stage.name(), i, n.tensor->name, range.min, range.max, *extent - 1);
  }

  // Whether both ends of its interval are reached: each variable occurs once, in operations that
  // take their extremes at the extremes of their operands.
  static bool has_exact_bounds(const Expr& index) {
    std::vector<const Var*> seen;
    bool once = true;
    walk(index, [&](const Var& v) {
      once = once && std::find(seen.begin(), seen.end(), &v) == seen.end();
      seen.push_back(&v);
    });
    return once && has_exact_operations(index);
  }

  static bool has_exact_operations(const Expr& e) {
    if (e->kind == ExprKind::IntImm || e->kind == ExprKind::Var) return true;
    const auto* n = as<Binary>(e);
    if (n == nullptr) return false;
    switch (n->op) {
      case BinaryOp::Add:
      case BinaryOp::Sub:
      case BinaryOp::Mul:
      case BinaryOp::Min:
      case BinaryOp::Max:
        return has_exact_operations(n->a) && has_exact_operations(n->b);
      case BinaryOp::FloorDiv:
        return int_value(n->b) != nullptr && has_exact_operations(n->a);
      case BinaryOp::FloorMod:
        return int_value(n->b) != nullptr && takes_every_value(n->a);
      default:
        return false;
    }
  }

  // A variable, or one moved by a constant.
  static bool takes_every_value(const Expr& e) {
    if (e->kind == ExprKind::Var) return true;
    const auto* n = as<Binary>(e);
    const bool moved = n != nullptr && (n->op == BinaryOp::Add || n->op == BinaryOp::Sub);
    return moved && ((n->a->kind == ExprKind::Var && int_value(n->b) != nullptr) ||
                     (n->b->kind == ExprKind::Var && int_value(n->a) != nullptr));
  }

  const Lowering& lowering_;
  const Schedule& s_;
  DiagnosticSink sink_;
  std::set<StageId> overflowed_;  // one report is enough
};

}  // namespace

void check_schedule(Lowering& lowering) {
  Checker(lowering).run();
  check_double_buffers(lowering);
}

}  // namespace texloom::lower
