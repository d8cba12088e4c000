// The buffers that tir.decl_buffer and the allocate of an ir_builder return.
#pragma once

#include "lower/lowering.h"

namespace texloom::python {

// Describes the memory layout of an argument, for `binds=`. Statements access the buffer by logical
// indices, wherever a schedule places the argument.
struct PyBuffer {
  explicit PyBuffer(lower::BufferDeclaration d)
      : declaration(std::move(d)), node(made_by(declaration)) {}
  lower::BufferDeclaration declaration;
  ir::Buffer node;
  // The strides of a view in a tensor intrinsic (schedule/operation/tensor_intrinsic.h). For a
  // whole array they must be those of a compact array (schedule/operation/compact_view.h).
  ir::Exprs strides;
  ir::Expr offset;
  int64_t offset_factor = 1;
  bool names_scope = false;  // if false, the scope is that of arguments without declarations

  bool is_view() const { return !strides.empty() || offset; }

 private:
  // Only an array in global memory may have symbolic extents.
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
