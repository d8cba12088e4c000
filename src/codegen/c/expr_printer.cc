#include "codegen/c/expr_printer.h"

#include <fmt/format.h>

#include <utility>

#include "codegen/legalize/align_access.h"
#include "ir/visit.h"
#include "support/check.h"

namespace texloom::codegen {

using ir::Expr;

std::string ExprPrinter::text(const Expr& e, Precedence parent) {
  see(e->type);
  return visit(
      e, [&](const ir::IntImm& n) { return literal(n); },
      [&](const ir::FloatImm& n) { return constant(n); },
      [&](const ir::Var& n) { return names.of(&n, n.name); },
      [&](const ir::Binary& n) { return binary(n, parent); },
      [&](const ir::Not& n) {
        return wrap("!" + text(n.value, Precedence::Unary), Precedence::Unary, parent);
      },
      [&](const ir::Select& n) { return select(n, parent); },
      [&](const ir::Cast& n) { return cast(n, parent); },
      [&](const ir::Call& n) { return call(n); },
      [&](const ir::Fma& n) {
        return fmt::format("fma({}, {}, {})", text(n.a), text(n.b), text(n.c));
      },
      [&](const ir::Broadcast& n) { return vector(n.type, {n.value}, parent); },
      [&](const ir::Pack& n) { return vector(n.type, n.elements, parent); },
      [&](const ir::Lane& n) {
        const int64_t lane = *int_value(n.index);
        return text(n.vector, Precedence::Postfix) + lane_suffix(n.vector->type.lanes, lane);
      },
      [&](const ir::Load& n) { return load(n); },
      [&](const ir::TextureLoad& n) { return texel(n); },
      [&](const ir::ForeignCall& n) {
        calls_foreign = true;
        return fmt::format("{}({})", n.function, list(n.arguments));
      },
      [&](const ir::Pointer& n) { return pointer(n); },
      [](const auto& n) -> std::string {
        TL_UNREACHABLE("not legalized: node kind " + std::to_string(static_cast<int>(n.kind)));
      });
}

std::string ExprPrinter::place(const ir::Buffer& buffer, const Expr& index) {
  if (index->type.is_scalar()) {
    std::string element = name(buffer);
    element += '[';
    element += text(index);
    element += ']';
    return element;
  }
  const std::string number = text(*vector_number(*buffer, index, dialect_));
  if (form_.array(buffer).lanes > 1) return fmt::format("{}[{}]", name(buffer), number);
  return fmt::format("(({} {}{}*){})[{}]", address_space(buffer->memory), vector_element(buffer),
                     index->type.lanes, name(buffer), number);
}

bool ExprPrinter::has_place(const ir::Buffer& buffer, const Expr& index) const {
  return index->type.is_scalar() || vector_number(*buffer, index, dialect_);
}

bool ExprPrinter::is_memory_alone(const ir::Buffer& buffer) const {
  return dialect_.is_memory_alone(buffer->type);
}

bool ExprPrinter::is_held_as_bits(ir::Type element) const {
  return element.code == ir::TypeCode::BFloat && !dialect_.bfloat16;
}

std::string ExprPrinter::memory_type(ir::Type element) const {
  return memory_type_name(is_held_as_bits(element) ? ir::Type::u(16) : element);
}

std::string ExprPrinter::wrap(std::string inner, Precedence own, Precedence parent) {
  if (own < parent) return '(' + std::move(inner) + ')';
  return inner;
}

std::string ExprPrinter::list(const ir::Exprs& exprs) {
  std::string joined;
  for (const Expr& e : exprs) {
    if (!joined.empty()) joined += ", ";
    joined += text(e);
  }
  return joined;
}

std::string ExprPrinter::binary(const ir::Binary& n, Precedence parent) {
  if (n.op == ir::BinaryOp::FloorDiv || n.op == ir::BinaryOp::FloorMod) {
    return fmt::format("{}({}, {})", prelude.floor_operation(n.op, n.type), text(n.a), text(n.b));
  }
  const OperatorSpelling spelled = operator_spelling(n.op, n.a->type);
  if (!spelled.infix) return fmt::format("{}({}, {})", spelled.text, text(n.a), text(n.b));
  const auto* first = as<ir::Binary>(n.a);
  const bool chained = first != nullptr && first->op == n.op && !is_comparison(n.op);
  std::string both = text(n.a, chained ? spelled.precedence : spelled.left);
  both += ' ';
  both += spelled.text;
  both += ' ';
  both += text(n.b, spelled.right);
  return wrap(std::move(both), spelled.precedence, parent);
}

// With a scalar condition, only the chosen value is evaluated; with a vector of conditions, both
// are.
std::string ExprPrinter::select(const ir::Select& n, Precedence parent) {
  if (!n.condition->type.is_scalar()) return select_lanes(n);
  return wrap(fmt::format("{} ? {} : {}", text(n.condition, Precedence::Or), text(n.if_true),
                          text(n.if_false)),
              Precedence::Conditional, parent);
}

std::string ExprPrinter::select_lanes(const ir::Select& n) {
  return fmt::format("select({}, {}, {})", text(n.if_false), text(n.if_true), text(n.condition));
}

std::string ExprPrinter::pointer(const ir::Pointer& n) {
  const Expr first = n.indices.front();
  const std::string array = name(n.buffer);
  const bool moved = !is_int(n.offset, 0);
  if (is_int(first, 0) && !moved) return array;
  const std::string element = fmt::format("{} + {}", array, text(first, Precedence::Product));
  return moved ? fmt::format("{} + {}", element, text(n.offset, Precedence::Product)) : element;
}

}  // namespace texloom::codegen
