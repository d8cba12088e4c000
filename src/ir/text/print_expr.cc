#include "ir/text/print_expr.h"

#include "ir/reducer.h"
#include "ir/text/lexer.h"
#include "ir/visit.h"
#include "support/check.h"

namespace texloom::ir {
namespace {

constexpr int kTightest = 100;

std::string_view use_of(const BufferNode& b) {
  return b.counts ? ", counters" : b.nontemporal ? ", nontemporal" : "";
}

}  // namespace

std::string ExprPrinter::text(const Expr& e, int parent) {
  if (const auto* n = as<Binary>(e)) return binary(*n, parent);
  return visit(e, [&](const auto& node) { return spelled(node); });
}

std::string ExprPrinter::iter_var(const IterVarNode& axis) {
  const std::string place = location(axis.location);
  if (is_int(axis.min, 0)) {
    return InOrder{"{} < {}{}", index(axis.var, kInt32), text(axis.extent), place}.text;
  }
  return InOrder{"{} from {} extent {}{}", index(axis.var, kInt32), text(axis.min),
                 text(axis.extent), place}
      .text;
}

std::string ExprPrinter::declared(const Buffer& b) { return name(b) + ": " + declaration(*b); }

std::string ExprPrinter::spelled(const IntImm& n) {
  if (n.type.is_bool()) return std::string(n.value != 0 ? "true" : "false");
  if (n.type == kInt32) return fmt::format_int(n.value).str();
  if (n.type.is_int()) return fmt::format("{}({})", to_string(n.type), n.value);
  return fmt::format("{}({})", to_string(n.type), static_cast<uint64_t>(n.value));
}

std::string ExprPrinter::spelled(const FloatImm& n) {
  const std::string digits = spell_float(n.value, n.type.bits);
  return n.type == kFloat32 ? digits : fmt::format("{}({})", to_string(n.type), digits);
}

std::string ExprPrinter::spelled(const Var& n) { return names_.name(&n, n.name); }

std::string ExprPrinter::spelled(const Binary& n) { return binary(n, 0); }

std::string ExprPrinter::spelled(const Not& n) { return "!" + text(n.value, kTightest); }

std::string ExprPrinter::spelled(const Select& n) {
  return InOrder{"select({}, {}, {})", text(n.condition), text(n.if_true), text(n.if_false)}.text;
}

std::string ExprPrinter::spelled(const Call& n) {
  return fmt::format("{}({})", info(n.function).te_name, list(n.arguments));
}

std::string ExprPrinter::spelled(const Fma& n) {
  return InOrder{"fma({}, {}, {})", text(n.a), text(n.b), text(n.c)}.text;
}

std::string ExprPrinter::spelled(const Ramp& n) {
  return InOrder{"ramp({}, {}, {})", text(n.base), text(n.stride), n.type.lanes}.text;
}

std::string ExprPrinter::spelled(const Broadcast& n) {
  return fmt::format("x{}({})", n.type.lanes, text(n.value));
}

std::string ExprPrinter::spelled(const Lane& n) {
  std::string vector = text(n.vector, kTightest);
  if (as<Not>(n.vector) != nullptr) vector = "(" + vector + ")";
  return fmt::format("{}.lane[{}]", vector, text(n.index));
}

std::string ExprPrinter::spelled(const Pack& n) {
  return fmt::format("pack({})", list(n.elements));
}

std::string ExprPrinter::spelled(const TensorRead& n) {
  return InOrder{"{}[{}]", tensor(*n.tensor), list(n.indices)}.text;
}

std::string ExprPrinter::spelled(const Tuple& n) {
  return fmt::format("tuple({})", list(n.elements));
}

std::string ExprPrinter::spelled(const Load& n) {
  std::string out = name(n.buffer);
  out += '[';
  out += list(n.indices);
  if (n.type.element() != n.buffer->type) out += ": " + to_string(n.type);
  out += ']';
  return out;
}

std::string ExprPrinter::spelled(const TextureLoad& n) {
  return InOrder{"texture2d.load({}, x={}, y={}: {})", name(n.texture), text(n.x), text(n.y),
                 to_string(n.type)}
      .text;
}

std::string ExprPrinter::spelled(const ForeignCall& n) {
  return fmt::format("{}({}{}{}: {})", n.pure ? "call_pure_extern" : "call_extern",
                     spell_name(n.function), n.arguments.empty() ? "" : ", ", list(n.arguments),
                     to_string(n.type));
}

std::string ExprPrinter::spelled(const Pointer& n) {
  const bool first = is_int(n.offset, 0);
  return InOrder{"access_ptr({}, {}[{}], extents=({}){})",
                 to_string(n.access),
                 name(n.buffer),
                 list(n.indices),
                 list(n.extents),
                 first ? std::string() : ", offset=" + text(n.offset)}
      .text;
}

std::string ExprPrinter::binary(const Binary& n, int parent) {
  if (!is_infix(n.op)) {
    return InOrder{"{}({}, {})", spelling(n.op), text(n.a), text(n.b)}.text;
  }
  const int own = precedence(n.op);
  // Most of a long text is operations and indices, which are appended faster than formatted.
  std::string inner = own < parent ? "(" : "";
  inner += text(n.a, own);
  inner += ' ';
  inner += spelling(n.op);
  inner += ' ';
  inner += text(n.b, own + 1);
  if (own < parent) inner += ')';
  return inner;
}

std::string ExprPrinter::spelled(const Cast& n) {
  std::string operand = text(n.value);
  // float16(0.5) is the constant itself, not a float32 that is rounded.
  if (n.value->kind == ExprKind::FloatImm && n.value->type == kFloat32 && n.type.is_float()) {
    operand = fmt::format("float32({})", operand);
  }
  return fmt::format("{}({})", to_string(n.type), operand);
}

std::string ExprPrinter::spelled(const Reduce& n) {
  std::string axes;
  for (const IterVar& axis : n.axes) axes += (axes.empty() ? "" : ", ") + iter_var(*axis);
  std::string reducer = names_.name(n.reducer.lhs.front().get(), n.reducer.name);
  if (const Exprs used = parameters_of(n.reducer); !used.empty()) {
    reducer += fmt::format("({})", list(used));
  }
  std::string out = InOrder{"reduce({}, [{}], {}", reducer, axes, values(n.sources)}.text;
  if (n.condition) out += ", where=" + text(n.condition);
  if (!n.init.empty()) out += ", init=" + values(n.init);
  return out + ")";
}

std::string ExprPrinter::values(const Exprs& list_of_values) {
  if (list_of_values.size() == 1) return text(list_of_values.front());
  return fmt::format("tuple({})", list(list_of_values));
}

std::string ExprPrinter::index(const Expr& var, Type expected) {
  const std::string type = var->type == expected ? "" : ": " + to_string(var->type);
  return text(var) + type;
}

std::string ExprPrinter::declaration(const BufferNode& b) {
  if (b.is_symbolic() && !b.is_texture()) {
    return fmt::format("{} {}[{}]{}", to_string(b.memory), to_string(b.type), list(b.extents),
                       use_of(b));
  }
  std::string shape;
  for (const int64_t extent : b.shape) {
    shape += fmt::format("{}{}", shape.empty() ? "" : ", ", extent);
  }
  if (!b.is_texture()) {
    const bool linear = b.layout == linear_layout(b.shape);
    return fmt::format("{} {}[{}]{}{}", to_string(b.memory), to_string(b.type), shape,
                       linear ? "" : ", " + to_string(b.layout), use_of(b));
  }
  std::string text_form =
      b.is_symbolic()
          ? fmt::format("texture2d<{}>[{}], {}", to_string(b.type), list(b.extents),
                        to_string(b.layout))
          : fmt::format("texture2d<{}>[{}] {} x {} texels, {}", to_string(b.type), shape,
                        b.layout.col_count(), b.layout.row_count(), to_string(b.layout));
  if (!b.origin.is_zero()) {
    text_form +=
        InOrder{", origin=({}, {})", index(b.origin.x, kInt32), index(b.origin.y, kInt32)}.text;
  }
  if (b.origin.exact_image) text_form += ", exact_image";
  return text_form;
}

std::string ExprPrinter::list(const Exprs& exprs) {
  std::string joined;
  for (const Expr& e : exprs) {
    if (!joined.empty()) joined += ", ";
    joined += text(e);
  }
  return joined;
}

std::string ExprPrinter::tensor(const TensorNode& t) {
  const void* producer = t.producer.get();
  return names_.name(producer == nullptr ? &t : producer, t.name) + output_text(t.output);
}

}  // namespace texloom::ir
