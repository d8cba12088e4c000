// Schedules: the loops over each operation's index space, the storage of its result, and the place
// where it is computed. Names and meanings are those of TVM 0.9's te.
//
// A schedule is a value: stages refer to one another by number, operations and axes are shared
// and immutable. A copy is an independent schedule; lowering works on a copy.
//
// A directive reports the faults of its own arguments at once, at the line of the call. Lowering
// checks the schedule as a whole (lower/schedule/check_schedule.h) and reports faults at the source
// lines that the schedule keeps.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "schedule/stage.h"
#include "schedule/storage.h"
#include "support/diagnostic.h"

namespace texloom::schedule {

class Schedule {
 public:
  // The stages of the outputs and of all that they read, in topological order, inputs first.
  static Schedule create(const std::vector<Op>& outputs);

  // Stages in topological order.
  const std::vector<StageId>& order() const { return order_; }
  Stage& stage(StageId id) { return stages_[static_cast<size_t>(id)]; }
  const Stage& stage(StageId id) const { return stages_[static_cast<size_t>(id)]; }
  // The stage of an operation, which is the user's own or the operation that a cache put in place
  // of the user's. nullopt if the operation is not part of this schedule.
  std::optional<StageId> find(const Op& op) const;
  // The stage that computes a tensor read in a body of this schedule.
  StageId producer(const ir::Tensor& tensor) const;
  // Explains why an axis is not a leaf of the stage: a directive replaced it, or it is an axis of
  // another stage.
  std::string fate_of(const Stage& stage, const ir::IterVar& axis) const;
  // The stages that read this stage.
  std::vector<StageId> readers_of(StageId id) const;
  // The scan that the stage is an init or an update of.
  std::optional<StageId> scan_written_by(StageId id) const;
  bool is_init(StageId id) const { return scan_written_by(id) && stage(id).scan < 0; }
  bool is_update(StageId id) const { return scan_written_by(id) && stage(id).scan >= 0; }
  // Whether the tensor is the state of a scan: the rows that earlier steps computed.
  bool is_state(const ir::Tensor& tensor) const {
    const Stage& own = stage(producer(tensor));
    return own.op->is_placeholder() && own.scan >= 0;
  }

  // -- Directives. Each directive fails at `where`.
  struct Pair {
    ir::IterVar outer, inner;
  };
  // Requires exactly one of `factor` and `nparts`. Parts of an exact split are as long as these
  // say, also where the parent is shorter; other parts shrink to it.
  Pair split(StageId id, const ir::IterVar& parent, std::optional<int64_t> factor,
             std::optional<int64_t> nparts, const SourceLocation& where, bool exact = false);
  ir::IterVar fuse(StageId id, const std::vector<ir::IterVar>& axes, const SourceLocation& where);
  void reorder(StageId id, const std::vector<ir::IterVar>& axes, const SourceLocation& where);
  // Returns a warning if the axis was bound before.
  std::optional<Diagnostic> bind(StageId id, const ir::IterVar& axis, const ir::IterVar& thread,
                                 const SourceLocation& where);
  // vectorize, unroll and parallel. Changes nothing if the axis is bound to threads.
  void annotate(StageId id, const ir::IterVar& axis, ir::LoopKind loop,
                const SourceLocation& where);
  // Replaces the loop by the intrinsic; lowering checks that both compute the same.
  void tensorize(StageId id, const ir::IterVar& axis, const TensorIntrinsic& intrinsic,
                 const SourceLocation& where);
  void compute_at(StageId id, StageId parent, const ir::IterVar& axis, const SourceLocation& where);
  void compute_inline(StageId id, const SourceLocation& where);
  void compute_root(StageId id, const SourceLocation& where);
  // Computes the stage ahead of the loop that it is attached to, with `stages` iterations in
  // flight.
  void pipeline(StageId id, int64_t stages, bool is_async, const SourceLocation& where);
  // `layout`, here and below: texture[...] or buffer[...], as in schedule/storage.h.
  void set_scope(StageId id, std::string_view scope, const SourceLocation& where,
                 std::string_view layout = {});
  // Adds a stage that copies the tensor into the scope; the readers then read the copy.
  ir::Tensor cache_read(const ir::Tensor& tensor, std::string_view scope,
                        const std::vector<Op>& readers, const SourceLocation& where,
                        std::string_view layout = {});
  // Adds a stage in the scope that computes the tensor; the tensor's own stage then copies it. If
  // data axes were split, fused or reordered before, the resulting loops are the axes of the cache,
  // in their order, and the tensor's stage gets its original loops back.
  ir::Tensor cache_write(const ir::Tensor& tensor, std::string_view scope,
                         const SourceLocation& where, std::string_view layout = {});
  // Adds a stage that computes the reduction without one of its axes, which becomes a data axis at
  // this position (negative: from the end). The tensor's own stage then reduces over that axis.
  // Returns the outputs of the new stage, one for each value of the reduction.
  std::vector<ir::Tensor> rfactor(const ir::Tensor& tensor, const ir::IterVar& axis,
                                  int factor_axis, const SourceLocation& where);
  // How a sum of products becomes a product of matrices.
  struct MatrixForm {
    // The axes that become one, the last varying fastest: data axes, and all reduction axes.
    std::vector<ir::IterVar> rows, columns, steps;
    // The first so many values of each axis of `rows`, if readers need no others; empty for all.
    std::vector<int64_t> row_extents;
    std::array<int64_t, 3> multiples = {1, 1, 1};  // of rows, columns and steps, with zeros
    // Whether the left and the right factor are stored transposed; by default, those whose tensors
    // have that axis last.
    std::array<std::optional<bool>, 2> transposed = {};
  };
  // A matrix for each index of the other data axes.
  struct Matrices {
    ir::Tensor left, right, product;
  };
  // Adds three stages: the factors of a plain sum of products as matrices, [rows, steps] and
  // [steps, columns], and their product. Factors of 16 bits keep their type where the sum converts
  // them; stages between them and the sum that are inlined become part of the factors. The tensor's
  // own stage then copies the sums out of the product. Fails with BadMatrices.
  Matrices matrices(const ir::Tensor& tensor, const MatrixForm& form, const SourceLocation& where);
  // Chooses the thread that stores a result that several threads have: see Stage::predicate.
  void set_store_predicate(StageId id, const ir::Expr& predicate, const SourceLocation& where);
  void storage_align(StageId id, const ir::IterVar& axis, int64_t factor, int64_t offset,
                     const SourceLocation& where);
  void double_buffer(StageId id, const SourceLocation& where);
  void pragma(StageId id, const ir::IterVar& axis, const std::string& key, const std::string& value,
              const SourceLocation& where);
  // Lays the result out by new axes, given as `indices` over the variables `axes`: one for each
  // axis of the tensor or of an earlier transform_layout. Returns the loops over the new axes.
  std::vector<ir::IterVar> transform_layout(StageId id, const ir::Exprs& axes,
                                            const ir::Exprs& indices,
                                            std::vector<size_t> separators,
                                            const SourceLocation& where);

  // -- For lowering.
  // Replaces the body of the stage's operation; its axes stay. If the reduction axes change, the
  // stage must have no relations; its axes become the leaves again.
  void set_body(StageId id, ir::Expr body);
  // split() without checks; the inner extent is the factor.
  Pair split_exactly(StageId id, const ir::IterVar& parent, int64_t factor);

  // -- For the text form (schedule/text/parse.h), which names axes itself. Checked like directives.
  // Makes the stage read `to`, of the same shape and type, wherever it reads `from`.
  void redirect(StageId id, const ir::Tensor& from, const ir::Tensor& to);
  // set_scope() to storage that check_storage() has passed.
  void set_storage(StageId id, Storage storage, const SourceLocation& where);
  // Appends a stage; the inputs of the operation have stages already.
  StageId append_stage(const Op& op) { return add_stage(op, order_.size()); }
  // Splits or fuses; the parts take the place of the parent, the fused axis takes the place of the
  // outer axis.
  void add_relation(StageId id, const Relation& relation, const SourceLocation& where);
  // Adds an outermost loop of one iteration, as fuse() of no axes does.
  void add_unit_axis(StageId id, const ir::IterVar& axis, const SourceLocation& where);
  // Like compute_at(), but the axis need not be a leaf.
  void attach(StageId id, StageId parent, const ir::IterVar& axis, const SourceLocation& where);

 private:
  // Refuses an intrinsic whose computation uses an axis of a stage, unless that axis is one of the
  // intrinsic's scalars. Intrinsics are declared without a schedule, so such an axis has no value
  // in their statements.
  void refuse_axes_in(const TensorIntrinsicNode& intrinsic, const SourceLocation& where) const;
  void check_rfactor(const Stage& stage, const ir::IterVar& axis, int factor_axis,
                     const SourceLocation& where) const;
  // -- Scans (scan_stages.cc).
  // Collects the stages that the steps of the scan compute.
  void begin_steps(StageId id);
  // Computes the stage in a step if it reads results of that step.
  void join_step(StageId id);
  // The place where the stage is computed by default.
  Attachment own_place(const Stage& stage) const;
  // Refuses directives on the place or the storage of inits, updates and states.
  void refuse_part_of_scan(const Stage& stage, std::string_view directive,
                           const SourceLocation& where) const;
  // Refuses a directive on a scan: a scan runs its steps in order and has no loops to schedule.
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
  std::unordered_map<Op, StageId, RefHash, RefSame> by_operation_;  // keeps the operations alive
};

}  // namespace texloom::schedule
