// What tir.decl_buffer and ir_builder's allocate return.
#pragma once

#include "lower/lowering.h"

namespace texloom::python {

// How an argument lies in memory, for `binds=`; and the memory that statements access by its
// logical indices, wherever a schedule puts it.
struct PyBuffer {
  explicit PyBuffer(lower::BufferDeclaration d)
      : declaration(std::move(d)),
        node(ir::make_buffer(declaration.name.empty() ? "buffer" : declaration.name,
                             declaration.type, declaration.shape, declaration.scope.memory,
                             declaration.location)) {}
  lower::BufferDeclaration declaration;
  ir::Buffer node;
  // Of a view of a tensor intrinsic (schedule/tensor_intrinsic.h).
  ir::Exprs strides;
  ir::Expr offset;
  int64_t offset_factor = 1;
  bool names_scope = false;  // else its declaration has the one that arguments lie in

  bool is_view() const { return !strides.empty() || offset; }
};

}  // namespace texloom::python
