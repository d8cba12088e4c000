#include "codegen/legalize/dialect.h"

#include "ir/buffer.h"

namespace texloom::codegen {

using ir::Type;

int64_t Dialect::alignment_of(const ir::BufferNode& buffer) const {
  return ir::is_private(buffer.memory) ? private_alignment : alignment;
}

bool Dialect::has_lanes(Type type) const {
  if (type.is_scalar()) return true;
  const bool conditions = type.element().is_bool();
  return vector_widths.contains(type.lanes) &&
         !(conditions && vector_conditions == VectorConditions::None);
}

bool Dialect::has_values(Type type) const {
  const Type element = type.element();
  if (!has_lanes(type) || element.code == ir::TypeCode::BFloat) return false;
  if (element.is_bool()) {
    return type.is_scalar() || vector_conditions == VectorConditions::Bools;
  }
  if (element == Type::f(16)) return half == HalfSupport::Values;
  if (element.bits == 64) return element.is_float() ? float64 : int64;
  return true;
}

bool Dialect::has_shuffles(Type type) const {
  return shuffles && type.is_scalar() && !type.is_bool() && type.bits <= 32 && has_values(type);
}

bool Dialect::is_memory_alone(Type element) const {
  if (element.code == ir::TypeCode::BFloat) return true;
  return element == Type::f(16) && half == HalfSupport::Memory;
}

bool Dialect::has_type(Type element) const {
  if (element.code == ir::TypeCode::BFloat) return true;
  if (element == Type::f(16)) return half != HalfSupport::None;
  return has_values(element);
}

bool Dialect::has_memory(Type element) const {
  return has_type(element) && 8 * element.bytes() >= storage_bits;
}

Type Dialect::loaded(Type stored) const {
  const Type element = stored.element();
  if (element.is_bool() && !bools_in_memory) return Type::u(8).with_lanes(stored.lanes);
  const bool is_half = element == Type::f(16) && half != HalfSupport::Values;
  if (is_half || element.code == ir::TypeCode::BFloat) {
    return ir::kFloat32.with_lanes(stored.lanes);
  }
  return stored;
}

Type Dialect::texel(Type element) const {
  const Type wide = element.is_int()    ? ir::kInt32
                    : element.is_uint() ? Type::u(32)
                                        : loaded(element);
  return wide.with_lanes(ir::kTexelLanes);
}

}  // namespace texloom::codegen
