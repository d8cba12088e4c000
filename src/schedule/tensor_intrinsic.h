// Tensor intrinsics: a small computation, and the statements that perform it.
//
// An intrinsic is a template. Its computation says what the statements do, as a compute over
// placeholders of constant shapes; its statements access views, buffers that stand for a part of
// some tensor each. Where a schedule tensorizes a loop, lowering matches what the loop computes
// with the computation (lower/tensorize.h), and puts the statements there with the parts that it
// found in place of the views.
#pragma once

#include <string>
#include <vector>

#include "schedule/operation.h"

namespace texloom::schedule {

// A part of a tensor as statements see it. The indices of `buffer` count from the part's first
// element, wherever the tensor lies: its memory scope and layout mean nothing.
struct TensorView {
  ir::Buffer buffer;
  // How many elements apart neighbours along each axis lie in memory: a constant, which has to be
  // true of the tensor's buffer, or a variable that has the value in the statements. None: nothing
  // is said.
  ir::Exprs strides;
  // A variable for the place of the part's first element in the tensor's buffer, or null.
  ir::Expr offset;
};

// Of stage loops, without threads. The body performs the whole computation. Of a reduction that is
// divided into steps, `reset` starts the result, and `update` combines it with one step; without
// a reset the first step is the body. Those that are not given are null.
struct IntrinsicStatements {
  ir::Stmt body, reset, update;
};

struct TensorIntrinsic : RefCounted {
  std::string name;
  Op computation;
  std::vector<TensorView> inputs;   // of the computation's inputs, in their order
  std::vector<TensorView> outputs;  // of its outputs
  IntrinsicStatements statements;
  SourceLocation location;
};
using Intrinsic = Ref<TensorIntrinsic>;

// Fails with BadIntrinsic where the computation is no compute of placeholders, or does not use
// each element of its inputs; where a view has another shape or type than its tensor; and where a
// statement breaks a rule of programs, binds threads, or uses what nothing defines.
Intrinsic make_tensor_intrinsic(std::string name, Op computation, std::vector<TensorView> inputs,
                                std::vector<TensorView> outputs, IntrinsicStatements statements,
                                SourceLocation location);

// Variables that stand for strides and offsets, each once.
ir::Exprs view_variables(const TensorIntrinsic& intrinsic);

}  // namespace texloom::schedule
