// Operations: what computes a tensor, before anything is scheduled.
#pragma once

#include <string>
#include <vector>

#include "ir/expr.h"

namespace texloom::schedule {

enum class OperationKind : uint8_t { Placeholder, Compute };

// Immutable. A placeholder is an input; a compute gives one expression over its axes, with at
// most one reduction, at the top.
struct Operation : RefCounted {
  OperationKind kind = OperationKind::Placeholder;
  std::string name;
  std::string tag;  // the user's own word, kept and shown
  ir::Type type;
  ir::Exprs shape;
  std::vector<ir::IterVar> axes;         // data axes: one for each extent of the shape
  std::vector<ir::IterVar> reduce_axes;  // of the reduction, in its order
  ir::Expr body;                         // null for a placeholder
  std::vector<ir::Tensor> inputs;        // that the body reads, once, in order of appearance
  SourceLocation location;               // of te.placeholder or te.compute

  bool is_placeholder() const { return kind == OperationKind::Placeholder; }
};
using Op = Ref<Operation>;

Op make_placeholder(std::string name, ir::Type type, ir::Exprs shape, SourceLocation location);

// Fails with BadReduction when a reduction stands anywhere but at the top of the body, or reads
// an axis of neither the compute nor the reduction.
Op make_compute(std::string name, std::string tag, std::vector<ir::IterVar> axes, ir::Expr body,
                SourceLocation location);

// Fails with ProgramTooLarge.
void check_body_size(const ir::Expr& body, std::string_view name, const SourceLocation& location);

// The tensor that the operation computes.
ir::Tensor output_of(const Op& op);
// The operation behind a tensor.
Op operation_of(const ir::Tensor& tensor);

// One element; fails with BadIndexCount or BadOperandType (an index that is no integer).
ir::Expr read(const ir::Tensor& tensor, ir::Exprs indices, const SourceLocation& location);

// Positive constants, else BadShape at `location`.
std::vector<int64_t> constant_shape(const ir::Exprs& shape, std::string_view what,
                                    const SourceLocation& location);

// A compute's inputs.
std::vector<ir::Tensor> tensors_read_by(const ir::Expr& body);

}  // namespace texloom::schedule
