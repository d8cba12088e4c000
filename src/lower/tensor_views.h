// What the views of a tensor intrinsic say of memory, held against the parts that they stand for.
#pragma once

#include <string>
#include <unordered_map>

#include "ir/arith/ranges.h"
#include "ir/visit.h"
#include "schedule/tensor_intrinsic.h"
#include "support/function_ref.h"

namespace texloom::lower {

// Where a view lies: its last axes are those of the buffer.
struct ViewPart {
  ir::Buffer buffer;
  ir::Exprs first;  // the indices of the view's first element
};
using ViewParts = std::unordered_map<const ir::BufferNode*, ViewPart>;  // by the view's own buffer

// Fails with what is wrong.
using RefuseView = FunctionRef<void(std::string help, const std::string& problem)>;

// The values of the variables that stand for strides and offsets. Refused is a part that lies in
// another scope than its view, with other strides than the view's constants, or that is not known
// to begin at a multiple of the view's factor: `ranges` are those of the variables of the parts.
ir::Substitution values_of_views(const schedule::TensorIntrinsic& intrinsic, const ViewParts& parts,
                                 const ir::arith::Ranges& ranges, RefuseView refuse);

}  // namespace texloom::lower
