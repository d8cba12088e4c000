#include "codegen/legalize/widen_storage.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "ir/visit.h"
#include "support/diagnostic.h"

namespace texloom::codegen {

using ir::BinaryOp;
using ir::Buffer;
using ir::Expr;
using ir::Intrinsic;
using ir::Stmt;
using ir::Type;

namespace {

constexpr Type kHalf = Type::f(16);

// x != 0
Expr truth(const Expr& e) {
  return make_binary(BinaryOp::Ne, e, ir::make_const(0, e->type), e->location);
}

// Rounds to the nearest float16 values, as float32.
Expr rounded(const Expr& value) {
  if (const auto* constant = as<ir::FloatImm>(value)) {
    return ir::make_float(nearest_half(constant->value));
  }
  if (const auto* all = as<ir::Broadcast>(value)) {
    return make_broadcast(rounded(all->value), all->type.lanes);
  }
  const int lanes = value->type.lanes;
  return make_cast(ir::kFloat32.with_lanes(lanes), make_cast(kHalf.with_lanes(lanes), value));
}

// The value that rounded() took, or the value itself.
Expr unrounded(const Expr& value) {
  const auto* widened = as<ir::Cast>(value);
  const auto* half = widened == nullptr ? nullptr : as<ir::Cast>(widened->value);
  const bool is_rounded =
      half != nullptr && half->type.is_half() && half->value->type == value->type;
  return is_rounded ? half->value : value;
}

// Whether the float32 results for float16 operands are exact float16 values.
bool is_exact(Intrinsic function) {
  switch (function) {
    case Intrinsic::Abs:
    case Intrinsic::Ceil:
    case Intrinsic::Floor:
    case Intrinsic::Fmod:
    case Intrinsic::Nearbyint:
    case Intrinsic::Round:
    case Intrinsic::Trunc:
      return true;
    default:
      return false;
  }
}

bool is_exact(const Expr& e) {
  if (const auto* call = as<ir::Call>(e)) return is_exact(call->function);
  const auto* binary = as<ir::Binary>(e);
  return binary == nullptr || binary->op == BinaryOp::Min || binary->op == BinaryOp::Max;
}

class StorageWidener {
 public:
  explicit StorageWidener(const Dialect& dialect) : dialect_(dialect) {}

  Stmt stmt(const Stmt& s) {
    if (const auto* n = as<ir::Store>(s)) return store(*n);
    if (const auto* n = as<ir::TextureStore>(s)) {
      const Expr value = make_cast(dialect_.texel(n->texture->type), expr(n->value));
      return make_texture_store(n->texture, expr(n->x), expr(n->y), value, n->location);
    }
    if (const auto* n = as<ir::Let>(s)) return let(*n);
    if (const auto* n = as<ir::Allocate>(s)) return allocate(*n);
    return map_children(
        s, [&](const Expr& e) { return expr(e); }, [&](const Stmt& child) { return stmt(child); });
  }

 private:
  void check_type(Type type, const SourceLocation& where) const {
    const Type element = type.element();
    if (element.is_bool() || dialect_.has_memory(element)) return;
    if (element == Type::f(64)) {
      fail(where, Code::UnsupportedType, "compute it in float32, or for a target with -float64=1",
           "the target does not support float64");
    }
    fail(where, Code::UnsupportedType,
         "store it as float16 or float32: te.placeholder(..., dtype='float16'), "
         "x.astype('float32')",
         "{} has no type {}", dialect_.name, to_string(element));
  }

  bool is_widened(Type type) const {
    return type.is_half() && dialect_.half != HalfSupport::Values;
  }

  // The type of a variable for values of `type`.
  Type held(Type type) const {
    return is_widened(type) ? ir::kFloat32.with_lanes(type.lanes) : type;
  }

  Expr expr(const Expr& e) {
    if (const auto found = done_.find(e); found != done_.end()) return found->second;
    check_type(e->type, e->location);
    Expr result = visit(
        e,
        [&](const ir::FloatImm& n) {
          return n.type.is_half() ? ir::make_float(nearest_half(n.value), held(n.type)) : e;
        },
        [&](const ir::Load& n) { return load(n); },
        [&](const ir::TextureLoad& n) {
          const Expr texel = make_texture_load_as(dialect_.texel(n.texture->type), n.texture,
                                                  expr(n.x), expr(n.y), n.location);
          return make_cast(held(n.type), texel);
        },
        [&](const ir::Cast& n) { return cast(n); }, [&](const ir::Call& n) { return call(n, e); },
        [&](const auto&) {
          if (e->kind == ir::ExprKind::Fma && e->type.is_half()) {
            fail(e->location, Code::UnsupportedType, "compute a * b + c, or convert to float32",
                 "there is no fma of float16, which rounds once");
          }
          return operation(e);
        });
    done_.emplace(e, result);
    return result;
  }

  Expr operation(const Expr& e) {
    const Expr rebuilt = map_children(e, [&](const Expr& child) { return expr(child); });
    return is_widened(e->type) && !is_exact(e) ? rounded(rebuilt) : rebuilt;
  }

  // Half functions may be off by 2 ulp, and OpenCL C has no native_ ones.
  Expr call(const ir::Call& n, const Expr& self) {
    const bool rounds_well = is_exact(n.function) || n.function == Intrinsic::Sqrt;
    if (!n.type.is_half() || is_widened(n.type) || rounds_well) return operation(self);
    ir::Exprs arguments;
    for (const Expr& each : n.arguments) {
      arguments.push_back(make_cast(ir::kFloat32.with_lanes(n.type.lanes), expr(each)));
    }
    return make_cast(n.type, make_call(n.function, std::move(arguments), n.location));
  }

  Expr load(const ir::Load& n) {
    const ir::Exprs indices = {expr(n.indices.front())};
    const Expr value = make_load_as(dialect_.loaded(n.type), array(n.buffer), indices, n.location);
    return value->type == held(n.type) ? value : truth(value);
  }

  Expr cast(const ir::Cast& n) {
    const Expr value = expr(n.value);
    if (!n.type.is_half()) return make_cast(n.type, value);
    // Rounds only once: float64 is not rounded to float32 first. Integers that float32 cannot
    // represent exceed the largest float16; OpenCL C does not define their conversion, unlike that
    // of large floats.
    const Type from = value->type.element();
    const Expr number =
        from.is_float() ? value : make_cast(ir::kFloat32.with_lanes(n.type.lanes), value);
    if (!is_widened(n.type)) return make_cast(n.type, number);
    return from.bits <= 8 ? number : rounded(number);
  }

  Stmt store(const ir::Store& n) {
    check_type(n.buffer->type, n.buffer->location);
    Expr value = expr(n.value);
    // Memory rounds halves; an array that has become one of float32 does not.
    if (is_widened(n.buffer->type) && !arrays_.contains(n.buffer.get())) value = unrounded(value);
    if (n.buffer->type.is_bool()) value = make_cast(dialect_.loaded(value->type), value);
    return make_store(array(n.buffer), {expr(n.indices.front())}, value, n.location);
  }

  Stmt let(const ir::Let& n) {
    const Expr value = expr(n.value);
    Expr var = n.var;
    if (is_widened(var->type)) {
      var = make_var(as<ir::Var>(var)->name, held(var->type), var->location);
      done_.emplace(n.var, var);
    }
    return make_let(var, value, stmt(n.body), n.location);
  }

  Stmt allocate(const ir::Allocate& n) {
    const ir::BufferNode& old = *n.buffer;
    Buffer buffer = n.buffer;
    if (dialect_.loaded(old.type) != old.type) {
      buffer = make_buffer_with_layout(old.name, dialect_.loaded(old.type), old.layout, old.memory,
                                       old.location);
      arrays_.emplace(n.buffer.get(), buffer);
    }
    return make_allocate(buffer, stmt(n.body), n.location);
  }

  Buffer array(const Buffer& buffer) const {
    const auto found = arrays_.find(buffer.get());
    return found == arrays_.end() ? buffer : found->second;
  }

  const Dialect& dialect_;
  std::unordered_map<Expr, Expr, RefHash, RefSame> done_;
  std::unordered_map<const ir::BufferNode*, Buffer> arrays_;  // replacements with another type
};

}  // namespace

double nearest_half(double value) {
  if (!std::isfinite(value) || value == 0) return value;
  constexpr int kDigits = 11, kMinExponent = -14;
  const int exponent = std::max(std::ilogb(value), kMinExponent);
  // Exact: the integer part of the quotient has few digits, and it is rounded to even.
  const double unit = std::ldexp(1.0, exponent - (kDigits - 1));
  const double nearest = std::nearbyint(value / unit) * unit;
  constexpr int kMaxExponent = 15;
  return std::abs(nearest) < std::ldexp(1.0, kMaxExponent + 1)
             ? nearest
             : std::copysign(std::numeric_limits<double>::infinity(), value);
}

Stmt widen_storage(const Stmt& body, const Dialect& dialect) {
  return StorageWidener(dialect).stmt(body);
}

}  // namespace texloom::codegen
