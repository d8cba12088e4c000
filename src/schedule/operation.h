// Operations: what computes a tensor, before anything is scheduled.
#pragma once

#include <string>
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

// What a scan carries from step to step: a tensor of which the first axis counts the steps. Its
// first rows are those of `init`; each step computes the next one, which is `update`'s, from those
// before it, which the update reads as elements of the placeholder `state`.
struct ScanState {
  ir::Tensor init, update, state;
};

// Immutable. A placeholder is an input; a compute gives one expression over its axes for each of
// its outputs: a Tuple where there are several. A reduction stands at the top of the body, and
// may have several outputs itself. An extern has a statement over buffers instead, and no axes. A
// scan has states, each an output of a shape of its own, and the axis of its steps.
// What an operation is: plain data, so that another one like it can be made.
struct OperationFields {
  OperationKind kind = OperationKind::Placeholder;
  std::string name;
  std::string tag;              // the user's own word, kept and shown
  std::vector<ir::Type> types;  // of the outputs, one for a placeholder
  // Of all outputs; those of an extern each have the shape of their buffer, those of a scan the
  // shape of their state.
  ir::Exprs shape;
  std::vector<ir::IterVar> axes;          // data axes: one for each extent of the shape
  std::vector<ir::IterVar> reduce_axes;   // of the reduction, in its order
  ir::Expr body;                          // of a compute, else null
  std::vector<ir::Tensor> inputs;         // that are read, each once, in order of appearance
  ir::Stmt statement;                     // of an extern, of stage loops, over the buffers below
  std::vector<ExternInput> reads;         // of an extern
  std::vector<ir::Buffer> writes;         // of an extern, one for each output
  std::vector<ScanState> states;          // of a scan, one for each output
  ir::IterVar scan_axis;                  // of a scan: from the first row that a step computes
  std::vector<ir::IterVar> spatial_axes;  // of a scan: the other axes of each state
  SourceLocation location;                // of te.placeholder, te.compute, te.extern or te.scan
  Ref<RefCounted> attributes;             // the front end's own: kept, and never looked at

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

// Reductions are over boxes from here on (reduction_box.h). Fails with BadReduction when a
// reduction stands anywhere but at the top of the body, its start uses its axes, or how far it runs
// is not known; with BadComputeBody when the body is none of elements.
Op make_compute(std::string name, std::string tag, std::vector<ir::IterVar> axes, ir::Expr body,
                SourceLocation location, Ref<RefCounted> attributes = {});

// The compute with another body, of the same axes and types.
Op with_body(const Operation& op, ir::Expr body);

// Fails with ProgramTooLarge.
void check_body_size(const ir::Expr& body, std::string_view name, const SourceLocation& location);

// The variables of a compute's body that are none of its axes, and those of an extern's statement
// that it does not define, in order of appearance: symbols, if the call gives them values
// (lower/symbols.h).
ir::Exprs scalars_in(const Operation& op);

// The values of a body: one for each output of the compute. Of a reduction what is reduced.
ir::Exprs values_of(const ir::Expr& body);

// The shape of one of its outputs.
ir::Exprs output_shape(const Operation& op, size_t output);
// A tensor that the operation computes, and all of them.
ir::Tensor output_of(const Op& op, size_t output = 0);
std::vector<ir::Tensor> outputs_of(const Op& op);
// The operation behind a tensor.
Op operation_of(const ir::Tensor& tensor);

// One element; fails with BadIndexCount or BadOperandType (an index that is no integer).
ir::Expr read(const ir::Tensor& tensor, ir::Exprs indices, const SourceLocation& location);

// Positive constants, else BadShape at `location`.
std::vector<int64_t> constant_shape(const ir::Exprs& shape, std::string_view what,
                                    const SourceLocation& location);

// Positive constants and expressions of symbols, simplified; else BadShape at `location`.
ir::Exprs extents_of(const ir::Exprs& shape, std::string_view what, const SourceLocation& location);

// A compute's inputs.
std::vector<ir::Tensor> tensors_read_by(const ir::Expr& body);

}  // namespace texloom::schedule
