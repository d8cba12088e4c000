#include "ir/leaf_expr.h"

#include "support/check.h"

namespace texloom::ir {

Expr make_int(int64_t value, Type type) {
  TL_CHECK(!type.is_float() && type.is_scalar());
  return Expr(new IntImm(type, wrapped(value, type)));
}

Expr make_float(double value, Type type) {
  TL_CHECK(type.is_float() && type.is_scalar());
  if (type.bits == 32) value = static_cast<float>(value);
  return Expr(new FloatImm(type, value));
}

Expr make_bool(bool value) { return make_int(value ? 1 : 0, kBool); }

Expr make_var(std::string name, Type type, SourceLocation location) {
  auto* node = new Var(type, std::move(name));
  node->location = std::move(location);
  return Expr(node);
}

}  // namespace texloom::ir
