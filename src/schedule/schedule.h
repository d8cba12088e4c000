// Schedules: how each operation's index space is walked, where its result lies, and where it is
// computed. The names and meanings are those of TVM 0.9's te.
//
// A schedule is a value: stages refer to one another by number, operations and axes are shared
// and immutable, so a copy is an independent schedule (lowering works on a copy).
//
// Directives check what is wrong in itself at once, at the line of the call; what only the whole
// schedule shows is checked by lowering (lower/check_schedule.h), with the line kept here.
#pragma once

#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "ir/scope.h"
#include "ir/stmt.h"
#include "schedule/operation.h"
#include "schedule/storage.h"
#include "schedule/tensor_intrinsic.h"
#include "schedule/transform_layout.h"
#include "support/diagnostic.h"

namespace texloom::schedule {

using StageId = int;

// parent = outer * factor + inner
struct SplitRelation {
  ir::IterVar parent, outer, inner;
  int64_t factor = 0;  // the inner extent; or 0, then
  int64_t nparts = 0;  // the outer extent
  // The inner extent stays `factor` even when the parent is shorter; else it shrinks to it.
  bool exact = false;
};
// fused = outer * extent(inner) + inner
struct FuseRelation {
  ir::IterVar outer, inner, fused;

  bool joins(const ir::IterVar& axis) const { return outer.same_as(axis) || inner.same_as(axis); }
};
using Relation = std::variant<SplitRelation, FuseRelation>;

// What directives said of one leaf axis.
struct AxisAttributes {
  ir::LoopKind loop = ir::LoopKind::Serial;
  ir::IterVar thread;       // bound to, when loop is Thread or Virtual
  SourceLocation location;  // of the directive
  bool parallel = false;    // for targets that run iterations of serial loops at once
  // Stands for this loop and those inside; the loop is Serial, then.
  Intrinsic intrinsic = {};
};

// A remark on what a loop encloses. Keys that nothing knows are kept and shown.
struct Pragma {
  ir::IterVar axis;
  std::string key;
  std::string value;  // as the user wrote it: a number or a word
  SourceLocation location;

  // C text that the kernels' functions are defined by: a part of the program, whatever its axis.
  static bool is_foreign_text(std::string_view key) { return key == "import_c"; }
};

// Indices of the axis lie k * factor + offset elements apart, with the smallest k that fits.
struct Alignment {
  ir::IterVar axis;
  int64_t factor = 1, offset = 0;
  SourceLocation location;
};

// The stage is computed ahead of the loop that it is attached to.
struct Pipeline {
  int stages = ir::kMinPipelineStages;  // iterations in flight
  SourceLocation location;
};

enum class AttachKind : uint8_t { Root, Inline, At };

struct Attachment {
  AttachKind kind = AttachKind::Root;
  StageId stage = -1;  // At: whose loop
  ir::IterVar axis;    // At: which loop; the stage runs at the start of its body
  SourceLocation location;
};

struct Stage {
  StageId id = -1;
  Op op;      // as it is now: caches change it
  Op origin;  // as the user wrote it
  bool is_output = false;
  std::vector<ir::IterVar> leaves;  // outermost first
  std::vector<Relation> relations;  // in the order they were made
  std::unordered_map<ir::IterVar, AxisAttributes, RefHash, RefSame> attributes;
  Attachment attachment;
  // The scan in whose steps it is computed, or of which it is a state's placeholder; -1: none.
  StageId scan = -1;
  std::optional<Pipeline> pipeline;
  // Unset: inferred from where the stage is attached.
  std::optional<ir::StorageScope> scope;
  std::optional<ir::LayoutPattern> layout;  // instead of the scope's own rule
  SourceLocation scope_location;
  std::optional<AxisTransform> transform;  // instead of a layout
  std::vector<Pragma> pragmas;
  std::vector<Alignment> alignments;  // one for an axis
  // The next iteration's values are computed while those of this one are read.
  bool double_buffered = false;
  SourceLocation double_buffer_location;
  // Over variables named like thread tags: of the threads that have the same result, the first for
  // which it holds stores it; null: the first.
  ir::Expr predicate;
  SourceLocation predicate_location;

  const std::string& name() const { return op->name; }
  // Null when the axis has none.
  const AxisAttributes* attributes_of(const ir::IterVar& axis) const;
  bool is_leaf(const ir::IterVar& axis) const;
  // Separated by commas; "none" where it has no loops.
  std::string leaf_names() const;
  // Its loops are those of the operation again. What was said of other axes is gone.
  void reset_loops();
};

class Schedule {
 public:
  // Of the outputs and everything they read; stages in topological order, inputs first.
  static Schedule create(const std::vector<Op>& outputs);

  // Stages in topological order.
  const std::vector<StageId>& order() const { return order_; }
  Stage& stage(StageId id) { return stages_[static_cast<size_t>(id)]; }
  const Stage& stage(StageId id) const { return stages_[static_cast<size_t>(id)]; }
  // The stage that computes an operation, whether the operation is the user's own or one that a
  // cache put in its place; nothing when it is not part of this schedule.
  std::optional<StageId> find(const Op& op) const;
  // The stage that computes a tensor read in a body of this schedule.
  StageId producer(const ir::Tensor& tensor) const;
  // Why an axis is no leaf of the stage: what became of it, or whose it is.
  std::string fate_of(const Stage& stage, const ir::IterVar& axis) const;
  // The stages that read it.
  std::vector<StageId> readers_of(StageId id) const;
  // The scan into whose result the stage writes, as one of its inits or its updates.
  std::optional<StageId> scan_written_by(StageId id) const;
  bool is_init(StageId id) const { return scan_written_by(id) && stage(id).scan < 0; }
  bool is_update(StageId id) const { return scan_written_by(id) && stage(id).scan >= 0; }
  // Whether the tensor stands for the rows of a scan's result that earlier steps computed.
  bool is_state(const ir::Tensor& tensor) const {
    const Stage& own = stage(producer(tensor));
    return own.op->is_placeholder() && own.scan >= 0;
  }

  // -- Directives. Each fails at `where`.
  struct Pair {
    ir::IterVar outer, inner;
  };
  // Exactly one of factor and nparts.
  Pair split(StageId id, const ir::IterVar& parent, std::optional<int64_t> factor,
             std::optional<int64_t> nparts, const SourceLocation& where);
  ir::IterVar fuse(StageId id, const std::vector<ir::IterVar>& axes, const SourceLocation& where);
  void reorder(StageId id, const std::vector<ir::IterVar>& axes, const SourceLocation& where);
  // Returns a warning when the axis was bound before.
  std::optional<Diagnostic> bind(StageId id, const ir::IterVar& axis, const ir::IterVar& thread,
                                 const SourceLocation& where);
  void annotate(StageId id, const ir::IterVar& axis, ir::LoopKind loop,
                const SourceLocation& where);
  // What the loop computes is left to the intrinsic; whether it computes that, lowering finds out.
  void tensorize(StageId id, const ir::IterVar& axis, const Intrinsic& intrinsic,
                 const SourceLocation& where);
  void compute_at(StageId id, StageId parent, const ir::IterVar& axis, const SourceLocation& where);
  void compute_inline(StageId id, const SourceLocation& where);
  void compute_root(StageId id, const SourceLocation& where);
  // Computes the stage, which is attached to a loop, ahead of it: `stages` iterations are in
  // flight.
  void pipeline(StageId id, int64_t stages, const SourceLocation& where);
  // `layout`, here and below: texture[...] or buffer[...], as in schedule/storage.h.
  void set_scope(StageId id, std::string_view scope, const SourceLocation& where,
                 std::string_view layout = {});
  // A stage that copies the tensor into the scope; the readers then read the copy.
  ir::Tensor cache_read(const ir::Tensor& tensor, std::string_view scope,
                        const std::vector<Op>& readers, const SourceLocation& where,
                        std::string_view layout = {});
  // A stage in the scope that computes what the tensor's stage computed; that one then copies.
  // Where its loops over data are split, fused or reordered already, they are the axes of the
  // cache, in their order, and it has its own axes for loops again.
  ir::Tensor cache_write(const ir::Tensor& tensor, std::string_view scope,
                         const SourceLocation& where, std::string_view layout = {});
  // A stage that computes the reduction without one of its axes, which becomes a data axis at this
  // position (negative: counted from the end); the tensor's own stage then reduces over it alone.
  // Returns the outputs of the stage: as many as the reduction has values.
  std::vector<ir::Tensor> rfactor(const ir::Tensor& tensor, const ir::IterVar& axis,
                                  int factor_axis, const SourceLocation& where);
  // Of the threads that have the same result, the first for which this holds stores it.
  void set_store_predicate(StageId id, const ir::Expr& predicate, const SourceLocation& where);
  void storage_align(StageId id, const ir::IterVar& axis, int64_t factor, int64_t offset,
                     const SourceLocation& where);
  void double_buffer(StageId id, const SourceLocation& where);
  void pragma(StageId id, const ir::IterVar& axis, const std::string& key, const std::string& value,
              const SourceLocation& where);
  void parallel(StageId id, const ir::IterVar& axis, const SourceLocation& where);
  // Lays the result out by other axes: `indices` over the variables `axes`, one for each axis of
  // the tensor, or of an earlier transform_layout. Returns a compute's loops over the new axes.
  std::vector<ir::IterVar> transform_layout(StageId id, const ir::Exprs& axes,
                                            const ir::Exprs& indices,
                                            std::vector<size_t> separators,
                                            const SourceLocation& where);

  // -- For lowering.
  // Replaces the stage's operation by one with the same axes and this body. Where the reduction
  // axes change, no relation has been made, and the leaves are the axes again.
  void set_body(StageId id, ir::Expr body);
  // split() without checks, by a constant that the inner extent keeps.
  Pair split_exactly(StageId id, const ir::IterVar& parent, int64_t factor);

  // -- For the text form (schedule/parse.h), which gives axes names of their own. Checked like the
  // directives.
  // Makes the stage read `to`, of the same shape and type, wherever it reads `from`.
  void redirect(StageId id, const ir::Tensor& from, const ir::Tensor& to);
  // set_scope() to storage that check_storage() has passed.
  void set_storage(StageId id, Storage storage, const SourceLocation& where);
  // A stage of its own at the end of the order: what the operation reads has stages already.
  StageId append_stage(const Op& op) { return add_stage(op, order_.size()); }
  // A split, whose outer axis takes the parent's place, or a fuse, whose axis takes the outer's.
  void add_relation(StageId id, const Relation& relation, const SourceLocation& where);
  // What fuse() of no axes makes: the outermost loop, of one iteration.
  void add_unit_axis(StageId id, const ir::IterVar& axis, const SourceLocation& where);
  // compute_at() an axis that may be no leaf any more.
  void attach(StageId id, StageId parent, const ir::IterVar& axis, const SourceLocation& where);

 private:
  void check_rfactor(const Stage& stage, const ir::IterVar& axis, int factor_axis,
                     const SourceLocation& where) const;
  // -- Of scans (scan_stages.cc).
  // Gathers what the scan computes in its steps.
  void begin_steps(StageId id);
  // A stage that reads what a step computes is computed in the step.
  void join_step(StageId id);
  // Where it is computed unless a directive says otherwise.
  Attachment own_place(const Stage& stage) const;
  // Inits, updates and states have no place or storage of their own.
  void refuse_part_of_scan(const Stage& stage, std::string_view directive,
                           const SourceLocation& where) const;
  // A scan has steps, and no other loops.
  static void refuse_scan(const Stage& stage, std::string_view directive,
                          const SourceLocation& where);
  void check_step(const Stage& stage, const Stage& host, const SourceLocation& where) const;

  void replace_operation(StageId id, Op op);
  StageId add_stage(const Op& op, size_t position);
  // A stage with loops of its own; fails for a placeholder.
  Stage& stage_for(StageId id, const SourceLocation& where, std::string_view directive);
  size_t leaf_position(const Stage& stage, const ir::IterVar& axis, const SourceLocation& where,
                       std::string_view directive) const;
  std::vector<ir::IterVar> transform_loops(StageId id, size_t earlier, const SourceLocation& where);
  static void put(Stage& stage, Storage storage, const SourceLocation& where);
  StageId stage_of(const ir::Tensor& tensor, const SourceLocation& where,
                   std::string_view directive) const;
  // Appends the relation and changes the leaves. Operands are leaves.
  static void apply(Stage& stage, const Relation& relation);

  std::vector<Stage> stages_;  // by id
  std::vector<StageId> order_;
  std::unordered_map<Op, StageId, RefHash, RefSame> by_operation_;  // keeps them alive
};

}  // namespace texloom::schedule
