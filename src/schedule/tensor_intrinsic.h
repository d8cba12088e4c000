// Tensor intrinsics: a small computation, and the statements that perform it.
//
// An intrinsic is a template. Its computation says what the statements do, as a compute over
// placeholders of constant shapes; its statements access views, buffers that stand for a part of
// some tensor each. Where a schedule tensorizes a loop, lowering matches what the loop computes
// with the computation (lower/tensorize.h), and puts the statements there with the parts that it
// found in place of the views.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/scope.h"
#include "schedule/operation.h"

namespace texloom::schedule {

// A part of a tensor as statements see it. The indices of `buffer` count from the part's first
// element, wherever the tensor lies: the buffer's own memory and layout mean nothing.
struct TensorView {
  ir::Buffer buffer = {};
  // How many elements apart neighbours along each axis lie in memory: a constant, which has to be
  // true of the tensor's buffer, or a variable that has the value in the statements. None: nothing
  // is said.
  ir::Exprs strides = {};
  // A variable for the place of the part's first element in the tensor's buffer, or null.
  ir::Expr offset = {};
  // What that place is a multiple of, in elements.
  int64_t offset_factor = 1;
  // Where the tensor has to lie: a texture of any layout, if it names one. None: anywhere.
  std::optional<ir::StorageScope> scope = {};
};

// Of stage loops, without threads. The body performs the whole computation. Of a reduction that is
// divided into steps, `reset` starts the result, and `update` combines it with one step; without
// a reset the first step is the body. Those that are not given are null.
struct IntrinsicStatements {
  ir::Stmt body = {}, reset = {}, update = {};
};

// What an intrinsic is: plain data, so that another one like it can be made.
struct IntrinsicFields {
  std::string name;
  Op computation;
  std::vector<TensorView> inputs;   // of the computation's inputs, in their order
  std::vector<TensorView> outputs;  // of its outputs
  // Variables of the computation and the statements that are numbers to them: each place has one
  // value for all of its loops, which lowering reads off what they compute.
  ir::Exprs scalars;
  IntrinsicStatements statements;
  SourceLocation location;
};
struct TensorIntrinsic : RefCounted, IntrinsicFields {
  explicit TensorIntrinsic(IntrinsicFields fields) : IntrinsicFields(std::move(fields)) {}
};
using Intrinsic = Ref<TensorIntrinsic>;

// Fails with BadIntrinsic where the computation is no compute of placeholders, or does not use
// each element of its inputs and each scalar; where a view has another shape or type than its
// tensor; and where a statement breaks a rule of programs, binds threads, or uses what nothing
// defines.
Intrinsic make_tensor_intrinsic(IntrinsicFields fields);

// The intrinsic of the scalars that have no value here: `values` has a constant or null for each.
// Constants fold, so that what loops compute would not show them. Fails with BadIntrinsic, at
// `where`, if an input or another scalar goes with them.
Intrinsic with_constants(const TensorIntrinsic& intrinsic, const ir::Exprs& values,
                         const SourceLocation& where);

}  // namespace texloom::schedule
