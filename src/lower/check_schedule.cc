#include "lower/check_schedule.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "ir/arith/ranges.h"
#include "ir/visit.h"
#include "lower/check_reads.h"
#include "lower/double_buffers.h"
#include "lower/symbols.h"
#include "schedule/attach.h"
#include "schedule/axis_values.h"
#include "schedule/extern_operation.h"
#include "schedule/scan_operation.h"

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
      check_step(stage);
      if (stage.op->is_extern()) check_extern(stage);
      if (stage.op->is_scan()) check_scan(stage);
      if (stage.op->is_extern() || stage.op->is_scan()) {
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
      if (stage.scan < 0) check_reads(*stage.op, {}, sink_);
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
      if (!id) {  // a parameter that nothing reads or writes
        check_row_major(argument, "read by nothing");
        continue;
      }
      if (!seen.emplace(*id, argument.tensor->output).second) {
        error(lowering_.location, Code::BadArguments, "name each argument once",
              "the argument '{}' is named twice", name);
      }
      check_copied(argument, s_.stage(*id));
      if (argument.declaration) check_declaration(argument);
    }
    for (const StageId id : s_.order()) {
      const Stage& stage = s_.stage(id);
      const bool input = stage.op->is_placeholder() && stage.scan < 0;
      if (!input || seen.contains({id, 0})) continue;
      error(lowering_.location, Code::BadArguments,
            fmt::format("add '{}' to the argument list", stage.name()),
            "the input '{}' is not among the arguments", stage.name());
    }
  }

  void check_row_major(const Argument& argument, std::string_view why) {
    const auto& declared = argument.declaration;
    if (!declared || !(declared->scope.texture || declared->layout || declared->has_origin)) return;
    error(declared->location, Code::BadBinding,
          "declare a row-major buffer, or have a stage at the root compute or read it",
          "the argument '{}' is {}, so that it lies in no texture and by no layout",
          argument.tensor->name, why);
  }

  // What is computed inside a reader is copied to the caller's array from there; of what is inlined
  // nothing is.
  void check_copied(const Argument& argument, const Stage& stage) {
    if (stage.attachment.kind == AttachKind::Root) return;
    check_row_major(argument, stage.attachment.kind == AttachKind::Inline
                                  ? "inlined"
                                  : "computed inside a reader");
    if (stage.attachment.kind == AttachKind::At && (stage.pipeline || stage.double_buffered)) {
      error(
          stage.pipeline ? stage.pipeline->location : stage.double_buffer_location,
          Code::BadArguments, "leave it out of the arguments, or compute it where it is read",
          "{} of the argument '{}', which is then computed ahead of its readers, from where it is "
          "not copied out",
          stage.pipeline ? "pipeline" : "double_buffer", stage.name());
    }
  }

  // What a scan computes in its steps nobody else sees, nor the caller; nor what it begins with.
  void check_step(const Stage& stage) {
    const std::optional<StageId> begun = stage.scan < 0 ? s_.scan_written_by(stage.id) : stage.scan;
    if (!begun) return;
    const std::string& scan = s_.stage(*begun).name();
    const bool argument =
        std::any_of(lowering_.arguments.begin(), lowering_.arguments.end(),
                    [&](const Argument& a) { return s_.find(operation_of(a.tensor)) == stage.id; });
    if (argument || stage.is_output) {
      error(lowering_.location, Code::ScanPlace,
            fmt::format("pass the result of '{}', or compute a copy from it", scan),
            "'{}' is a part of the scan '{}', and no array that the caller could pass",
            stage.name(), scan);
    }
    if (stage.scan < 0) return;
    for (const StageId reader : s_.readers_of(stage.id)) {
      if (reader == stage.scan || s_.stage(reader).scan == stage.scan) continue;
      error(
          s_.stage(reader).op->location, Code::ScanPlace,
          fmt::format("read the result of '{}'", scan),
          "'{}' reads '{}', which is computed in the steps of the scan '{}' and known there alone",
          s_.stage(reader).name(), stage.name(), scan);
    }
  }

  void check_scan(const Stage& stage) {
    const StorageScope scope = scope_of_stage(stage);
    if (scope != StorageScope{} || stage.layout) {
      error(stage.scope_location, Code::ScanPlace,
            "leave it in a row-major buffer, and copy from there with cache_read",
            "the steps of the scan '{}' read what they wrote, elements in global memory, not in "
            "'{}'",
            stage.name(), to_string(scope));
    }
    const ScanStep step = step_of(*stage.op);
    for (const Op& op : step.operations) {
      const bool inlined = s_.stage(*s_.find(op)).attachment.kind == AttachKind::Inline;
      if (!inlined) check_reads(*op, rows_of(*stage.op, step), sink_);
    }
  }

  // The rows that steps compute.
  static arith::Ranges rows_of(const Operation& scan, const ScanStep& step) {
    const int64_t first = *int_value(scan.scan_axis->min);
    const int64_t* steps = int_value(scan.scan_axis->extent);
    arith::Interval rows{first, arith::Interval::kNone};
    if (steps != nullptr) rows.max = first + *steps - 1;
    arith::Ranges ranges;
    for (const ExprNode* row : step.rows) ranges.set(Expr(row), rows);
    return ranges;
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
      return check_exact_image(d, argument.tensor->name);
    }
    error(d.location, Code::BadBinding,
          "declare it with the tensor's shape and dtype, in global memory or a texture",
          "the tensor '{}' is {}[{}], but its buffer is declared as {}[{}] in {}",
          argument.tensor->name, to_string(argument.tensor->type), fmt::join(shape, ", "),
          to_string(d.type), fmt::join(d.shape, ", "), to_string(d.scope));
  }

  void check_exact_image(const BufferDeclaration& d, const std::string& tensor) {
    if (!d.exact_image || (d.scope.texture && !d.has_origin)) return;
    error(d.location, Code::BadBinding,
          d.has_origin ? "leave out origin=True, or exact_image=True"
                       : "declare it with scope=\"texture\", or without exact_image=True",
          "the tensor '{}' is declared to fill its image, but {}", tensor,
          d.has_origin ? "may begin anywhere in one" : "lies in a buffer");
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
    for (const auto& [axis, attributes] : stage.attributes) {
      if (!attributes.intrinsic) continue;
      const auto& [body, reset, update] = attributes.intrinsic->statements;
      for (const Stmt& s : {body, reset, update}) {
        if (s) walk(s, see);
      }
    }
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
    if (stage.op->is_scan()) {
      error(stage.predicate_location, Code::BadPredicate,
            "set it on what the steps compute: s[update].set_store_predicate(condition)",
            "a store predicate of the scan '{}', which stores nothing itself", stage.name());
    } else if (stage.op->is_extern()) {
      error(stage.predicate_location, Code::BadPredicate,
            "put the stores of the statement under ib.if_scope(condition)",
            "a store predicate of the extern '{}', whose statement says itself what is stored",
            stage.name());
    } else if (scope_of_stage(stage).memory == MemoryScope::Local) {
      error(stage.predicate_location, Code::BadPredicate,
            "leave the predicate out, or set it on the stage that writes to global memory",
            "the store predicate of '{}', of which every thread keeps a result in local memory",
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
    if (stage.attachment.kind != AttachKind::At || stage.scan >= 0) return;
    for (const StageId reader : s_.readers_of(stage.id)) {
      if (s_.stage(reader).attachment.kind == AttachKind::Inline) continue;
      check_encloses(s_, stage.id, reader);
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
    if (host.op->is_scan() && stage.scan == host.id) {
      error(where, Code::CannotPipeline, "attach it to a loop of the update",
            "'{}' is pipelined, but what a step of the scan '{}' reads is not there before it",
            stage.name(), host.name());
    }
    // Its last iteration stands behind the loop.
    for (const StageId doubled : double_buffered_at(s_, {host.id, loop})) {
      error(where, Code::CannotPipeline, "pipeline both, or neither of them",
            "'{}' is pipelined at the loop '{}' of '{}', at which '{}' has double buffers",
            stage.name(), loop->name(), host.name(), s_.stage(doubled).name());
    }
  }

  const Lowering& lowering_;
  const Schedule& s_;
  DiagnosticSink sink_;
};

}  // namespace

void check_schedule(Lowering& lowering) {
  Checker(lowering).run();
  check_double_buffers(lowering);
}

}  // namespace texloom::lower
