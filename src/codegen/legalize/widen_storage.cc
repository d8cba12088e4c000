#include "codegen/legalize/widen_storage.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "codegen/legalize/half_copies.h"
#include "ir/analysis/fragments.h"
#include "ir/visit.h"
#include "lower/kernels/kernel_limits.h"
#include "support/diagnostic.h"
#include "support/half.h"

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

// float16 or bfloat16.
bool is_narrow(Type type) { return type.is_float() && type.bits == 16; }

double nearest(double value, Type narrow) {
  return narrow.is_half() ? nearest_half(value) : nearest_bfloat(value);
}

// Rounds to the nearest values of a narrow type, as float32.
Expr rounded(const Expr& value, Type narrow) {
  if (const auto* constant = as<ir::FloatImm>(value)) {
    return ir::make_float(nearest(constant->value, narrow));
  }
  if (const auto* all = as<ir::Broadcast>(value)) {
    return make_broadcast(rounded(all->value, narrow), all->type.lanes);
  }
  const int lanes = value->type.lanes;
  return make_cast(ir::kFloat32.with_lanes(lanes), make_cast(narrow.with_lanes(lanes), value));
}

// A number of 32 or 64 bits as float32, such that rounding the float32 to bfloat16 is the only
// rounding: in numbers that float32 may lack, a sticky bit becomes the OR of itself and all lower
// bits. Float32 has the sticky bit b of numbers below 2^(b + 24), and bfloat16 keeps only higher
// bits of numbers from 2^(b + 9) on.
Expr float_of_wide_integer(const Expr& value) {
  const Type type = value->type;
  const auto constant = [&](double number) { return ir::make_const(number, type); };
  const auto is_below = [&](int power) {  // |value| < 2^power
    const double bound = std::ldexp(1.0, power);
    const Expr is_low = make_binary(BinaryOp::Lt, value, constant(bound));
    return type.is_int() ? is_low && make_binary(BinaryOp::Lt, constant(-bound), value) : is_low;
  };
  const auto with_sticky = [&](int bit) {
    const double unit = std::ldexp(1.0, bit);
    const Expr low = make_binary(BinaryOp::BitAnd, value, constant(2 * unit - 1));
    const Expr is_zero = make_binary(BinaryOp::Eq, low, constant(0));
    const Expr sticky = make_select(is_zero, constant(0), constant(unit));
    const Expr high = value - low;
    return make_binary(BinaryOp::BitOr, high, sticky);
  };
  Expr exact = with_sticky(type.bits == 64 ? 40 : 8);
  for (const int bit : {38, 23, 8}) {
    if (type.bits == 64) exact = make_select(is_below(bit + 24), with_sticky(bit), exact);
  }
  return make_cast(ir::kFloat32.with_lanes(type.lanes), make_select(is_below(24), value, exact));
}

// The operand of rounded(), if the value is its result; otherwise the value itself.
Expr unrounded(const Expr& value) {
  const auto* widened = as<ir::Cast>(value);
  const auto* narrow = widened == nullptr ? nullptr : as<ir::Cast>(widened->value);
  const bool is_rounded =
      narrow != nullptr && is_narrow(narrow->type) && narrow->value->type == value->type;
  return is_rounded ? narrow->value : value;
}

// Whether the float32 results for float16 operands are exact float16 values, and likewise for
// bfloat16.
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
  StorageWidener(const Stmt& body, const Dialect& dialect)
      : dialect_(dialect), roles_(ir::fragment_roles(body)) {
    if (dialect.half == HalfSupport::Memory) halves_ = half_arrays(body);
  }

  Stmt stmt(const Stmt& s) {
    if (const auto* n = as<ir::Store>(s)) return store(*n);
    if (const auto* n = as<ir::TextureStore>(s)) {
      const Expr value = make_cast(dialect_.texel(n->texture->type), expr(n->value));
      return make_texture_store(n->texture, expr(n->x), expr(n->y), value, n->location);
    }
    if (const auto* n = as<ir::Let>(s)) return let(*n);
    if (const auto* n = as<ir::Allocate>(s)) return allocate(*n);
    if (as<ir::LastBlock>(s) != nullptr && !dialect_.device_fence) {
      fail(s->location, Code::ScopeTooWide, "build for a target that has -device_fence=1",
           "blocks of a launch exchange values, but {} has no fence for that", dialect_.name);
    }
    return map_children(
        s, [&](const Expr& e) { return expr(e); }, [&](const Stmt& child) { return stmt(child); });
  }

 private:
  void check_type(Type type, const SourceLocation& where) const {
    const Type element = type.element();
    if (element.is_bool() || dialect_.has_type(element)) return;
    if (element == Type::f(64)) {
      fail(where, Code::UnsupportedType, std::string(dialect_.without_float64),
           "the target does not support float64");
    }
    fail(where, Code::UnsupportedType, "store it as int32 or float32", "{} has no type {}",
         dialect_.name, to_string(element));
  }

  void check_memory(const ir::Buffer& buffer, const SourceLocation& where) const {
    const Type element = buffer->type;
    check_type(element, where);
    if (buffer->is_texture() || dialect_.has_memory(element)) return;
    fail(where, Code::UnsupportedType, "store it as int32 or float32",
         "{} has no {} in memory: its elements in memory have at least {} bits", dialect_.name,
         to_string(element), dialect_.storage_bits);
  }

  bool is_widened(Type type) const {
    return is_narrow(type) && !dialect_.has_values(type.element());
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
          return is_narrow(n.type) ? ir::make_float(nearest(n.value, n.type), held(n.type)) : e;
        },
        [&](const ir::Load& n) {
          check_memory(n.buffer, n.location);
          return load(n);
        },
        [&](const ir::TextureLoad& n) {
          const Expr texel = make_texture_load_as(dialect_.texel(n.texture->type), n.texture,
                                                  expr(n.x), expr(n.y), n.location);
          return make_cast(held(n.type), texel);
        },
        [&](const ir::Cast& n) { return cast(n); }, [&](const ir::Call& n) { return call(n, e); },
        [&](const ir::Pointer& n) {
          if (arrays_.contains(n.buffer.get())) {
            fail(n.location, Code::UnsupportedType,
                 "keep the array in float32, or in global memory",
                 "a foreign function cannot take a pointer to '{}': it is {}, which is kept as {}",
                 n.buffer->name, to_string(n.type), to_string(dialect_.loaded(n.type)));
          }
          return operation(e);
        },
        [&](const auto&) {
          if (e->kind == ir::ExprKind::Fma && is_narrow(e->type)) {
            fail(e->location, Code::UnsupportedType, "compute a * b + c, or convert to float32",
                 "there is no fma of {}, which rounds once", to_string(e->type.element()));
          }
          return operation(e);
        });
    done_.emplace(e, result);
    return result;
  }

  Expr operation(const Expr& e) {
    const Expr rebuilt = map_children(e, [&](const Expr& child) { return expr(child); });
    return is_widened(e->type) && !is_exact(e) ? rounded(rebuilt, e->type.element()) : rebuilt;
  }

  // Calls most functions of half in float32: half functions may be off by 2 ulp, and OpenCL C has
  // no native_ functions of half.
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
    if (!is_narrow(n.type)) return make_cast(n.type, value);
    if (!n.type.is_half()) return bfloat(n, value);
    // Rounds only once: float64 is not rounded to float32 first. Integers are converted to float32
    // first: OpenCL C defines the conversion of large floats to half, but not of large integers.
    // The integers that float32 cannot represent exceed the largest float16.
    const Type from = value->type.element();
    const Expr number =
        from.is_float() ? value : make_cast(ir::kFloat32.with_lanes(n.type.lanes), value);
    if (!is_widened(n.type)) return make_cast(n.type, number);
    return from.bits <= 8 ? number : rounded(number, kHalf);
  }

  // The number as a bfloat16, in float32.
  Expr bfloat(const ir::Cast& n, const Expr& value) {
    const Type from = value->type.element();
    const Expr number = from.bits < 32      ? make_cast(held(n.type), value)
                        : from.is_integer() ? float_of_wide_integer(value)
                                            : value;
    return from.bits <= 8 ? number : rounded(number, n.type.element());
  }

  // Whether the store copies elements of float16 between arrays that hold their bits.
  bool copies_bits(const ir::Store& n) const {
    if (halves_.of_steps.empty() || !is_copy_of_halves(n.value)) return false;
    const auto is_widened = [&](const Buffer& buffer) {
      return arrays_.contains(buffer.get()) && !halves_.bits.contains(buffer.get());
    };
    return !is_widened(n.buffer) &&
           !any_of(n.value, [&](const ir::Load& load) { return is_widened(load.buffer); });
  }

  // The bits of a copy's value.
  Expr bits(const Expr& value) {
    const Type type = Type::u(16).with_lanes(value->type.lanes);
    if (const auto* n = as<ir::Load>(value)) {
      return make_load_as(type, array(n->buffer), {expr(n->indices.front())}, n->location);
    }
    if (const auto* n = as<ir::Broadcast>(value)) {
      return make_broadcast(bits(n->value), type.lanes, n->location);
    }
    if (const auto* n = as<ir::Select>(value)) {
      return make_select(expr(n->condition), bits(n->if_true), bits(n->if_false), n->location);
    }
    const double number = as<ir::FloatImm>(value)->value;
    return ir::make_int(half_of_float(static_cast<float>(number)), type);
  }

  Stmt store(const ir::Store& n) {
    check_memory(n.buffer, n.buffer->location);
    if (copies_bits(n)) {
      return make_store(array(n.buffer), {expr(n.indices.front())}, bits(n.value), n.location);
    }
    Expr value = expr(n.value);
    // A store to float16 memory rounds; a store to an array that was widened to float32 does not.
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
    const bool is_kept = halves_.of_steps.contains(&old) || is_of_step(n.buffer);
    const Type element = halves_.bits.contains(&old) ? Type::u(16) : dialect_.loaded(old.type);
    if (element != old.type && !is_kept) {
      buffer = make_buffer_with_layout(old.name, element, old.layout, old.memory, old.location);
      arrays_.emplace(n.buffer.get(), buffer);
    }
    return make_allocate(buffer, stmt(n.body), n.location);
  }

  Buffer array(const Buffer& buffer) const {
    const auto found = arrays_.find(buffer.get());
    return found == arrays_.end() ? buffer : found->second;
  }

  // Whether SIMD-groups hold the fragment, in the language's own types.
  bool is_of_step(const Buffer& buffer) const { return roles_.contains(buffer.get()); }

  const Dialect& dialect_;
  const ir::FragmentRoles roles_;
  HalfArrays halves_;
  std::unordered_map<Expr, Expr, RefHash, RefSame> done_;
  std::unordered_map<const ir::BufferNode*, Buffer> arrays_;  // replacements with another type
};

}  // namespace

namespace {

// `digits`: the digits of the significand, with the hidden digit; `max_exponent`: the exponent of
// the largest number.
double nearest_of(double value, int digits, int max_exponent) {
  if (!std::isfinite(value) || value == 0) return value;
  const int exponent = std::max(std::ilogb(value), 1 - max_exponent);
  // Exact: `unit` is a power of two, and nearbyint rounds ties to even.
  const double unit = std::ldexp(1.0, exponent - (digits - 1));
  const double nearest = std::nearbyint(value / unit) * unit;
  return std::abs(nearest) < std::ldexp(1.0, max_exponent + 1)
             ? nearest
             : std::copysign(std::numeric_limits<double>::infinity(), value);
}

}  // namespace

double nearest_half(double value) { return nearest_of(value, 11, 15); }
double nearest_bfloat(double value) { return nearest_of(value, 8, 127); }

Stmt widen_storage(const Stmt& body, const Dialect& dialect) {
  return StorageWidener(body, dialect).stmt(body);
}

void check_limits(const ir::Kernel& kernel, const ir::Target& target) {
  lower::check_array_limits(kernel, target,
                            "16-bit floats are computed in float32, so that an element of these "
                            "arrays takes 4 bytes");
}

}  // namespace texloom::codegen
