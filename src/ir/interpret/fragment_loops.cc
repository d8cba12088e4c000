#include "ir/interpret/fragment_loops.h"

#include "ir/buffer.h"
#include "support/check.h"

namespace texloom::ir {
namespace {

class LoopBuilder {
 public:
  LoopBuilder(const FragmentStep& step, bool logical) : n_(step), logical_(logical) {}

  Stmt loops() const {
    const Expr row = make_var("row", kInt32), column = make_var("column", kInt32);
    switch (n_.op) {
      case FragmentOp::Fill:
        return over(row, over(column, store(0, row, column, n_.operands[1])));
      case FragmentOp::Load:
      case FragmentOp::Store:
        return over(row, over(column, store(0, row, column, load(1, row, column))));
      case FragmentOp::Mma:
        break;
    }
    TL_UNREACHABLE("products have no loops");
  }

 private:
  Stmt over(const Expr& var, Stmt body) const {
    return make_for(var, make_int(kFragmentSide), LoopKind::Serial, std::move(body), n_.location);
  }

  // The indices of the element (row, column) of a part.
  Exprs place(const Pointer& pointer, const Expr& row, const Expr& column) const {
    const auto plus = [](const Expr& a, const Expr& b) { return a + make_cast(a->type, b); };
    Exprs indices = pointer.indices;
    if (logical_) {
      const size_t rank = indices.size();
      indices[rank - 2] = plus(indices[rank - 2], row);
      indices[rank - 1] = plus(plus(indices[rank - 1], column), pointer.offset);
      return indices;
    }
    const bool is_fragment = pointer.buffer->memory == MemoryScope::Fragment;
    const Expr stride = is_fragment ? make_int(pointer.buffer->shape.back()) : n_.operands[2];
    Expr& index = indices.front();
    index = plus(plus(index, row * make_cast(kInt32, stride)),
                 column + make_cast(kInt32, pointer.offset));
    return indices;
  }
  Expr load(size_t operand, const Expr& row, const Expr& column) const {
    const Pointer& pointer = n_.pointer(operand);
    return make_load(pointer.buffer, place(pointer, row, column), n_.location);
  }
  Stmt store(size_t operand, const Expr& row, const Expr& column, Expr value) const {
    const Pointer& pointer = n_.pointer(operand);
    return make_store(pointer.buffer, place(pointer, row, column), std::move(value), n_.location);
  }

  const FragmentStep& n_;
  const bool logical_;
};

}  // namespace

Stmt fragment_loops(const FragmentStep& step, bool logical) {
  return LoopBuilder(step, logical).loops();
}

}  // namespace texloom::ir
