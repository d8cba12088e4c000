// Tensor intrinsics: a small computation, and the statements that perform it.
//
// An intrinsic is a template. Its computation, a compute over placeholders of constant shapes,
// specifies its statements. The statements access views: buffers that each represent a part of some
// tensor. For a tensorized loop, lowering matches the loop against the computation
// (lower/build/tensorize.h) and replaces it by the statements, with the matched parts instead of
// the views.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/scope.h"
#include "schedule/operation/operation.h"

namespace texloom::schedule {

// A part of a tensor as the statements see it. The indices of `buffer` count from the first element
// of the part; the memory and the layout of the buffer itself are ignored.
struct TensorView {
  ir::Buffer buffer = {};
  // The stride along each axis, in elements: a constant, which the tensor's buffer must have, or a
  // variable that gets the value in the statements. Empty: unspecified.
  ir::Exprs strides = {};
  // A variable for the offset of the part's first element in the tensor's buffer, or null.
  ir::Expr offset = {};
  // The offset is a multiple of this number of elements.
  int64_t offset_factor = 1;
  // The scope that the tensor must have; a texture may have any layout. nullopt: any scope.
  std::optional<ir::StorageScope> scope = {};
};

// Statements of stage loops, without threads. The body performs the whole computation. If the
// schedule divides a reduction into steps, `reset` initializes the result and `update` combines it
// with one step; without a reset, `body` does the first step. Missing statements are null.
struct IntrinsicStatements {
  ir::Stmt body = {}, reset = {}, update = {};
};

// The data of an intrinsic, from which a similar one can be made.
struct TensorIntrinsicFields {
  std::string name;
  Op computation;
  std::vector<TensorView> inputs;   // views of the computation's inputs, in their order
  std::vector<TensorView> outputs;  // views of its outputs
  // Variables of the computation and the statements that are numbers: each use of the intrinsic has
  // one value for all of its loops, which lowering finds by matching.
  ir::Exprs scalars;
  IntrinsicStatements statements;
  SourceLocation location;
};
struct TensorIntrinsicNode : RefCounted, TensorIntrinsicFields {
  explicit TensorIntrinsicNode(TensorIntrinsicFields fields)
      : TensorIntrinsicFields(std::move(fields)) {}
};
using TensorIntrinsic = Ref<TensorIntrinsicNode>;

// Fails with BadIntrinsic if the computation is not a compute over placeholders or does not use
// every element of its inputs and every scalar, if a view differs from its tensor in shape or type,
// or if a statement breaks a rule of programs, binds threads, or uses something undefined.
TensorIntrinsic make_tensor_intrinsic(TensorIntrinsicFields fields);

// The intrinsic with constants for some scalars: `values` has a constant or null for each scalar.
// Constants fold into other expressions of a loop, so that matching would not find them. Fails with
// BadIntrinsic, at `where`, if folding removes an input or another scalar.
TensorIntrinsic with_constants(const TensorIntrinsicNode& intrinsic, const ir::Exprs& values,
                               const SourceLocation& where);

}  // namespace texloom::schedule
