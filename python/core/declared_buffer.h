// What tir.decl_buffer and ir_builder's allocate return.
#pragma once

#include "lower/lowering.h"

namespace texloom::python {

// How an argument lies in memory, for `binds=`; and the memory that statements access by its
// logical indices, wherever a schedule puts it.
struct PyBuffer {
  explicit PyBuffer(lower::BufferDeclaration d)
      : declaration(std::move(d)), node(made_by(declaration)) {}
  lower::BufferDeclaration declaration;
  ir::Buffer node;
  // Of a view of a tensor intrinsic (schedule/tensor_intrinsic.h); of a whole array what they have
  // to be (schedule/compact_view.h).
  ir::Exprs strides;
  ir::Expr offset;
  int64_t offset_factor = 1;
  bool names_scope = false;  // else its declaration has the one that arguments lie in

  bool is_view() const { return !strides.empty() || offset; }

 private:
  // Of constant extents, but for an array in global memory.
  static ir::Buffer made_by(const lower::BufferDeclaration& d) {
    const std::string name = d.name.empty() ? "buffer" : d.name;
    if (d.scope.memory == ir::MemoryScope::Global) {
      return ir::make_array(name, d.type, d.shape, d.location);
    }
    return ir::make_buffer(name, d.type, schedule::constant_shape(d.shape, name, d.location),
                           d.scope.memory, d.location);
  }
};

}  // namespace texloom::python
