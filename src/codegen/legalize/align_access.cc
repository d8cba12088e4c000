#include "codegen/legalize/align_access.h"

#include "ir/arith/simplify.h"
#include "ir/visit.h"

namespace texloom::codegen {

using ir::BinaryOp;
using ir::Expr;

namespace {

// Whether a vector of `lanes` elements is aligned if the index of its first element is a multiple
// of `lanes`. False for three lanes: such a vector occupies the space of four elements.
bool may_align(const ir::BufferNode& buffer, int lanes, const Dialect& dialect) {
  return lanes != 1 && lanes != 3 && buffer.type.bytes() * lanes <= dialect.alignment_of(buffer);
}

Expr aligned_index(const ir::BufferNode& buffer, const Expr& index, const ir::arith::Ranges& ranges,
                   const Dialect& dialect) {
  const auto* ramp = as<ir::Ramp>(index);
  if (ramp == nullptr || !may_align(buffer, index->type.lanes, dialect)) return index;
  const int lanes = index->type.lanes;
  if (!is_int(ir::arith::simplify(floormod(ramp->base, lanes), ranges), 0)) return index;
  const Expr number = ir::arith::simplify(floordiv(ramp->base, lanes), ranges);
  return make_ramp(number * lanes, ramp->stride, lanes);
}

}  // namespace

ir::Stmt align_accesses(const ir::Stmt& body, const ir::arith::Ranges& ranges,
                        const Dialect& dialect) {
  return rewrite(
      body,
      [&](const ir::Load& n, const Expr&) {
        return make_load_as(n.type, n.buffer,
                            {aligned_index(*n.buffer, n.indices.front(), ranges, dialect)},
                            n.location);
      },
      [&](const ir::Store& n, const ir::Stmt&) {
        return make_store(n.buffer, {aligned_index(*n.buffer, n.indices.front(), ranges, dialect)},
                          n.value, n.location);
      });
}

std::optional<Expr> vector_number(const ir::BufferNode& buffer, const Expr& index,
                                  const Dialect& dialect) {
  const auto* ramp = as<ir::Ramp>(index);
  if (ramp == nullptr || !may_align(buffer, index->type.lanes, dialect)) return std::nullopt;
  const int lanes = index->type.lanes;
  if (const int64_t* base = int_value(ramp->base)) {
    if (*base % lanes != 0) return std::nullopt;
    return ir::make_int(*base / lanes, ramp->base->type);
  }
  const auto* product = as<ir::Binary>(ramp->base);
  if (product == nullptr || product->op != BinaryOp::Mul) return std::nullopt;
  const int64_t* factor = int_value(product->b);
  if (factor == nullptr || *factor % lanes != 0) return std::nullopt;
  return product->a * (*factor / lanes);
}

}  // namespace texloom::codegen
