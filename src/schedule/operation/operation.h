// Operations: the computations of tensors, before scheduling.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/expr.h"
#include "ir/stmt.h"

namespace texloom::schedule {

enum class OperationKind : uint8_t { Placeholder, Compute, Extern, Scan };

// A buffer that an extern's statement reads, and the tensor that it stands for.
struct ExternInput {
  ir::Tensor tensor;
  ir::Buffer buffer;
};

// A tensor that a scan carries from step to step; its first axis counts the steps. `init` computes
// its first rows. Each step computes the next row by `update`, which reads earlier rows through the
// placeholder `state`.
struct ScanState {
  ir::Tensor init, update, state;
};

// A front end's notes for schedules of an operation, beside the expression: the axes of a sum of
// products, for example. The compiler compares and prints the text, and does not understand it.
struct OperationAttributes : RefCounted {
  explicit OperationAttributes(std::string t) : text(std::move(t)) {}
  const std::string text;  // such as JSON
};

// The data of an operation, from which a similar one can be made.
//
// A placeholder is an input. A compute has an expression over its axes for each output, in a Tuple
// if there are several. A reduction is always the root of the body and may have several outputs
// itself. An extern has a statement over buffers instead, and no axes. A scan has states, which are
// its outputs, each with its own shape, and the axis of its steps.
struct OperationFields {
  OperationKind kind = OperationKind::Placeholder;
  std::string name;
  std::string tag;              // the user's own word, kept and shown
  std::vector<ir::Type> types;  // of the outputs, one for a placeholder
  // The shape of all outputs. Each output of an extern has the shape of its buffer, and each output
  // of a scan the shape of its state.
  ir::Exprs shape;
  std::vector<ir::IterVar> axes;          // data axes: one for each extent of the shape
  std::vector<ir::IterVar> reduce_axes;   // of the reduction, in its order
  ir::Expr body;                          // of a compute, else null
  std::vector<ir::Tensor> inputs;         // each once, in order of appearance
  ir::Stmt statement;                     // of an extern: over the buffers of `reads` and `writes`
  std::vector<ExternInput> reads;         // of an extern
  std::vector<ir::Buffer> writes;         // of an extern, one for each output
  std::vector<ScanState> states;          // of a scan, one for each output
  ir::IterVar scan_axis;                  // of a scan: from the first row that a step computes
  std::vector<ir::IterVar> spatial_axes;  // of a scan: the other axes of each state
  SourceLocation location;                // of te.placeholder, te.compute, te.extern or te.scan
  Ref<OperationAttributes> attributes;    // null if there are none

  bool is_placeholder() const { return kind == OperationKind::Placeholder; }
  bool is_compute() const { return kind == OperationKind::Compute; }
  bool is_extern() const { return kind == OperationKind::Extern; }
  bool is_scan() const { return kind == OperationKind::Scan; }
};
struct Operation : RefCounted, OperationFields {
  Operation() = default;
  explicit Operation(OperationFields fields) : OperationFields(std::move(fields)) {}
};
using Op = Ref<Operation>;

Op make_placeholder(std::string name, ir::Type type, ir::Exprs shape, SourceLocation location);

// Turns a reduction into a reduction over a box (reduction_box.h). Fails with BadReduction if a
// reduction is not the root of the body, if its init uses its axes, or if its extent is unknown;
// with BadComputeBody if the body reads buffers or contains vectors.
Op make_compute(std::string name, std::string tag, std::vector<ir::IterVar> axes, ir::Expr body,
                SourceLocation location, Ref<OperationAttributes> attributes = {});

// The text of the operation's attributes; empty if there are none.
std::string_view attributes_text(const Operation& op);

// The compute with another body over the same axes and of the same types.
Op with_body(const Operation& op, ir::Expr body);

// Fails with ProgramTooLarge.
void check_body_size(const ir::Expr& body, std::string_view name, const SourceLocation& location);

// The free variables of a compute's body, other than its axes, or of an extern's statement, in
// order of appearance. Variables that get values from the call are symbols
// (lower/schedule/check_symbols.h).
ir::Exprs scalars_in(const Operation& op);

// The values of a body, one for each output of the compute; the sources of a reduction.
ir::Exprs values_of(const ir::Expr& body);

// The loops of an operation without directives: its data axes, then its reduction axes; for a scan
// the axis of its steps.
std::vector<ir::IterVar> loops_of(const Operation& op);

// The shape of one of the operation's outputs.
ir::Exprs output_shape(const Operation& op, size_t output);
// One of the tensors that the operation computes, and all of them.
ir::Tensor output_of(const Op& op, size_t output = 0);
std::vector<ir::Tensor> outputs_of(const Op& op);
// The operation that computes a tensor.
Op operation_of(const ir::Tensor& tensor);

// Reads one element. Fails with BadIndexCount or BadOperandType (an index that is not an integer).
ir::Expr read(const ir::Tensor& tensor, ir::Exprs indices, const SourceLocation& location);

// Fails with BadShape at `location` unless all extents are positive constants.
std::vector<int64_t> constant_shape(const ir::Exprs& shape, std::string_view what,
                                    const SourceLocation& location);

// The simplified extents. Fails with BadShape at `location` unless they are positive constants or
// expressions of symbols.
ir::Exprs extents_of(const ir::Exprs& shape, std::string_view what, const SourceLocation& location);

// A compute's inputs.
std::vector<ir::Tensor> tensors_read_by(const ir::Expr& body);

}  // namespace texloom::schedule
