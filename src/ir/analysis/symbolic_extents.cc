#include "ir/analysis/symbolic_extents.h"

#include "ir/visit.h"

namespace texloom::ir {
namespace {

Expr count_of(const BufferNode& texture, const LayoutParts& parts) {
  Expr count = make_int(1);
  for (const LayoutPart& part : parts) count = count * extent_of(texture, part);
  return count;
}

}  // namespace

bool is_extent(const Expr& e) {
  if (e->type != kInt32) return false;
  const bool has_other_kinds = any_of(e, [](const ExprNode& n) {
    return n.kind != ExprKind::IntImm && n.kind != ExprKind::Var && n.kind != ExprKind::Binary;
  });
  const bool has_other_operations = any_of(e, [](const Binary& n) {
    switch (n.op) {
      case BinaryOp::Add:
      case BinaryOp::Sub:
      case BinaryOp::Mul:
      case BinaryOp::FloorDiv:
      case BinaryOp::FloorMod:
      case BinaryOp::Min:
      case BinaryOp::Max:
        return false;
      default:
        return true;
    }
  });
  return !has_other_kinds && !has_other_operations;
}

Expr extent_of(const BufferNode& texture, const LayoutPart& part) {
  if (part.extent != kToTheEnd) return make_int(part.extent);
  const Expr& whole = texture.extents[static_cast<size_t>(part.axis)];
  if (part.divisor == 1) return whole;
  return floordiv(whole + (part.divisor - 1), part.divisor);
}

Expr row_count(const BufferNode& texture) { return count_of(texture, texture.layout.rows); }
Expr col_count(const BufferNode& texture) { return count_of(texture, texture.layout.cols); }

Expr extent_with_lanes(const BufferNode& texture, size_t axis) {
  if (!texture.is_symbolic()) return make_int(texture.layout.extent_with_lanes(axis));
  const Expr& extent = texture.extents[axis];
  if (texture.layout.lane_axis() != static_cast<int>(axis)) return extent;
  const int64_t lanes = texture.layout.lane_count();
  return floordiv(extent + (lanes - 1), lanes) * lanes;
}

arith::Ranges ranges_of_symbols(const Exprs& extents, int64_t least) {
  arith::Ranges ranges;
  for (const Expr& extent : extents) {
    if (int_value(extent) == nullptr) ranges.assume(extent >= make_int(least, extent->type));
  }
  return ranges;
}

arith::Ranges ranges_of_symbols(const std::vector<Buffer>& params) {
  Exprs extents;
  for (const Buffer& b : params)
    extents.insert(extents.end(), b->extents.begin(), b->extents.end());
  return ranges_of_symbols(extents);
}

arith::Ranges ranges_of_params(const Kernel& kernel) {
  std::vector<Buffer> buffers;
  for (const KernelParam& p : kernel.params) {
    if (p.buffer) buffers.push_back(p.buffer);
  }
  arith::Ranges ranges = ranges_of_symbols(buffers);
  for (const KernelParam& p : kernel.params) {
    if (p.extent) ranges.enter(p.scalar, p.extent);
  }
  return ranges;
}

}  // namespace texloom::ir
