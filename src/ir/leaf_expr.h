// Expressions without operands: constants and variables. The declarations of buffers, tensors and
// axes contain them; ir/expr.h has the other expressions.
#pragma once

#include <string>

#include "ir/node.h"

namespace texloom::ir {

template <class Node>
struct ExprBase : ExprNode {
  explicit ExprBase(Type node_type) : ExprNode(Node::kKind, node_type) {}
};

struct IntImm : ExprBase<IntImm> {
  static constexpr ExprKind kKind = ExprKind::IntImm;
  IntImm(Type t, int64_t v) : ExprBase(t), value(v) {}
  int64_t value;
  auto fields() const { return field_list(value); }
};
struct FloatImm : ExprBase<FloatImm> {
  static constexpr ExprKind kKind = ExprKind::FloatImm;
  FloatImm(Type t, double v) : ExprBase(t), value(v) {}
  double value;
  auto fields() const { return field_list(value); }
};
// Compared by address: several variables may have the same name.
struct Var : ExprBase<Var> {
  static constexpr ExprKind kKind = ExprKind::Var;
  Var(Type t, std::string n) : ExprBase(t), name(std::move(n)) {}
  std::string name;
  auto fields() const { return field_list(name); }
};

// The node if it is of this kind, else null.
template <class Node>
const Node* as(const Expr& e) {
  return e->kind == Node::kKind ? static_cast<const Node*>(e.get()) : nullptr;
}

Expr make_int(int64_t value, Type type = kInt32);
Expr make_float(double value, Type type = kFloat32);
Expr make_bool(bool value);
Expr make_var(std::string name, Type type = kInt32, SourceLocation location = {});

// The value of an integer or bool constant; null for anything else.
inline const int64_t* int_value(const Expr& e) {
  const auto* imm = as<IntImm>(e);
  return imm == nullptr ? nullptr : &imm->value;
}
inline bool is_int(const Expr& e, int64_t value) {
  const int64_t* v = int_value(e);
  return v != nullptr && *v == value;
}

}  // namespace texloom::ir
