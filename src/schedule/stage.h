// A stage of a schedule: an operation, the loops over its index space, and the directives on them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "ir/layout/layout_pattern.h"
#include "ir/scope.h"
#include "ir/stmt.h"
#include "schedule/operation/axis_transform.h"
#include "schedule/operation/operation.h"
#include "schedule/operation/tensor_intrinsic.h"

namespace texloom::schedule {

using StageId = int;

// parent = outer * factor + inner
struct SplitRelation {
  ir::IterVar parent, outer, inner;
  int64_t factor = 0;  // the inner extent; 0 if `nparts` is given
  int64_t nparts = 0;  // the outer extent; 0 if `factor` is given
  // The inner extent is `factor` even if the parent is shorter; otherwise it shrinks to the parent.
  bool exact = false;
};
// fused = outer * extent(inner) + inner
struct FuseRelation {
  ir::IterVar outer, inner, fused;

  bool joins(const ir::IterVar& axis) const { return outer.same_as(axis) || inner.same_as(axis); }
};
using Relation = std::variant<SplitRelation, FuseRelation>;

// The directives on one leaf axis.
struct AxisAttributes {
  ir::LoopKind loop = ir::LoopKind::Serial;
  ir::IterVar thread;       // the thread axis it is bound to, if `loop` is Thread or Virtual
  SourceLocation location;  // of the directive
  // Replaces this loop, which is then Serial, and the loops inside it.
  TensorIntrinsic intrinsic = {};
};

// A pragma on the body of a loop. Pragmas with unknown keys are kept and shown.
struct Pragma {
  ir::IterVar axis;
  std::string key;
  std::string value;  // as the user wrote it: a number or a word
  SourceLocation location;

  // Whether the value is C text that defines functions for the kernels. Such text is part of the
  // program, whatever axis has the pragma.
  static bool is_foreign_text(std::string_view key) { return key == "import_c"; }
};

// Makes the stride of the axis k * factor + offset elements, with the smallest k that fits.
struct Alignment {
  ir::IterVar axis;
  int64_t factor = 1, offset = 0;
  SourceLocation location;
};

// Computes the stage ahead of the loop that it is attached to.
struct Pipeline {
  int stages = ir::kMinPipelineStages;  // iterations in flight
  bool is_async = false;                // whether copies to shared memory are asynchronous
  SourceLocation location;
};

enum class AttachKind : uint8_t { Root, Inline, At };

struct Attachment {
  AttachKind kind = AttachKind::Root;
  StageId stage = -1;  // for At: the stage of the loop
  ir::IterVar axis;    // for At: the loop; this stage runs at the start of its body
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
  // The scan whose steps compute this stage, or whose state this placeholder is; -1: none.
  StageId scan = -1;
  std::optional<Pipeline> pipeline;
  // Unset: inferred from where the stage is attached.
  std::optional<ir::StorageScope> scope;
  std::optional<ir::LayoutPattern> layout;  // instead of the scope's own rule
  SourceLocation scope_location;
  std::optional<AxisTransform> transform;  // instead of a layout
  std::vector<Pragma> pragmas;
  std::vector<Alignment> alignments;  // at most one for each axis
  // The values of the next iteration are computed while the values of the current one are read.
  bool double_buffered = false;
  SourceLocation double_buffer_location;
  // Chooses one of several threads with the same result to store it: the first for which this
  // condition over thread tags is true, or the first of all if it is null.
  ir::Expr predicate;
  SourceLocation predicate_location;

  const std::string& name() const { return op->name; }
  // The attributes of the axis; null if it has none.
  const AxisAttributes* attributes_of(const ir::IterVar& axis) const;
  bool is_leaf(const ir::IterVar& axis) const;
  // Whether a tensor intrinsic replaces some of its loops.
  bool is_tensorized() const;
  // The names of the leaves, separated by commas; "none" if the stage has no loops.
  std::string leaf_names() const;
  // Restores the loops of the operation and drops the directives on other axes.
  void reset_loops();
};

}  // namespace texloom::schedule
