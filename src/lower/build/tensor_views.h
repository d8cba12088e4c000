// The views of a tensor intrinsic, and the parts of tensors that they represent.
#pragma once

#include <string>
#include <unordered_map>

#include "ir/arith/ranges.h"
#include "ir/visit.h"
#include "schedule/operation/tensor_intrinsic.h"
#include "support/function_ref.h"

namespace texloom::lower {

// The part that a view represents; the view's axes are the last axes of the buffer.
struct ViewPart {
  ir::Buffer buffer;
  ir::Exprs first;  // the indices of the view's first element
};
using ViewParts = std::unordered_map<const ir::BufferNode*, ViewPart>;  // by the view's own buffer

// Throws the error for this problem of a view.
using RefuseView = FunctionRef<void(std::string help, const std::string& problem)>;

// The values of the variables for strides and offsets. Refuses a part whose scope differs from its
// view's, whose strides differ from the view's constants, or that is not known to begin at a
// multiple of the view's offset_factor. `ranges` are the ranges of the variables of the parts.
ir::Substitution values_of_views(const schedule::TensorIntrinsicNode& intrinsic,
                                 const ViewParts& parts, const ir::arith::Ranges& ranges,
                                 RefuseView refuse);

// The statement of an intrinsic, accessing the parts in place of the views.
ir::Stmt with_parts(const ir::Stmt& s, const ViewParts& parts, const ir::arith::Ranges& ranges);

}  // namespace texloom::lower
