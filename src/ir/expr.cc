#include "ir/expr.h"

#include <algorithm>
#include <array>
#include <optional>

namespace texloom::ir {
namespace {

struct OpRow {
  BinaryOp op;
  std::string_view spelling;
  int precedence;  // of an infix operator; 0: spelled as a call
};
constexpr std::array kOps = {
    OpRow{BinaryOp::Add, "+", 8},
    OpRow{BinaryOp::Sub, "-", 8},
    OpRow{BinaryOp::Mul, "*", 9},
    OpRow{BinaryOp::Div, "/", 9},
    OpRow{BinaryOp::Mod, "truncmod", 0},
    OpRow{BinaryOp::FloorDiv, "floordiv", 0},
    OpRow{BinaryOp::FloorMod, "floormod", 0},
    OpRow{BinaryOp::Min, "min", 0},
    OpRow{BinaryOp::Max, "max", 0},
    OpRow{BinaryOp::Eq, "==", 6},
    OpRow{BinaryOp::Ne, "!=", 6},
    OpRow{BinaryOp::Lt, "<", 6},
    OpRow{BinaryOp::Le, "<=", 6},
    OpRow{BinaryOp::Gt, ">", 6},
    OpRow{BinaryOp::Ge, ">=", 6},
    OpRow{BinaryOp::And, "&&", 2},
    OpRow{BinaryOp::Or, "||", 1},
    OpRow{BinaryOp::Shl, "<<", 7},
    OpRow{BinaryOp::Shr, ">>", 7},
    OpRow{BinaryOp::BitAnd, "&", 5},
    OpRow{BinaryOp::BitOr, "|", 3},
    OpRow{BinaryOp::BitXor, "^", 4},
};

constexpr std::array kIntrinsics = {
#define TL_INTRINSIC(Name, te_name, arity) IntrinsicInfo{Intrinsic::Name, te_name, arity},
#include "ir/intrinsics.def"
#undef TL_INTRINSIC
};

}  // namespace

std::string_view spelling(BinaryOp op) { return kOps[static_cast<size_t>(op)].spelling; }
int precedence(BinaryOp op) { return kOps[static_cast<size_t>(op)].precedence; }
bool is_infix(BinaryOp op) { return precedence(op) > 0; }
std::optional<BinaryOp> parse_binary_op(std::string_view text) {
  const auto* row =
      std::find_if(kOps.begin(), kOps.end(), [&](const OpRow& r) { return r.spelling == text; });
  return row == kOps.end() ? std::nullopt : std::optional(row->op);
}

bool takes(Intrinsic function, Type type) {
  if (function == Intrinsic::Popcount || function == Intrinsic::Clz) {
    return type.is_uint() && type.bits >= 32;
  }
  if (dot_of(function)) return type.element() == kInt32;
  const bool native = function >= Intrinsic::NativeExp && function <= Intrinsic::NativePowr;
  return type.is_float() && !(native && type.bits == 64);
}

std::optional<Dot> dot_of(Intrinsic function) {
  switch (function) {
    case Intrinsic::DotU8S8:
      return Dot{8, false, true};
    case Intrinsic::DotS8S8:
      return Dot{8, true, true};
    case Intrinsic::DotU8U8:
      return Dot{8, false, false};
    case Intrinsic::DotS16S16:
      return Dot{16, true, true};
    default:
      return std::nullopt;
  }
}

const IntrinsicInfo& info(Intrinsic function) { return kIntrinsics[static_cast<size_t>(function)]; }
const IntrinsicInfo* find_intrinsic(std::string_view te_name) {
  const auto* row = std::find_if(kIntrinsics.begin(), kIntrinsics.end(),
                                 [&](const IntrinsicInfo& i) { return i.te_name == te_name; });
  return row == kIntrinsics.end() ? nullptr : row;
}

Expr operator+(Expr a, Expr b) { return make_binary(BinaryOp::Add, std::move(a), std::move(b)); }
Expr operator-(Expr a, Expr b) { return make_binary(BinaryOp::Sub, std::move(a), std::move(b)); }
Expr operator*(Expr a, Expr b) { return make_binary(BinaryOp::Mul, std::move(a), std::move(b)); }
Expr floordiv(Expr a, Expr b) {
  return make_binary(BinaryOp::FloorDiv, std::move(a), std::move(b));
}
Expr floormod(Expr a, Expr b) {
  return make_binary(BinaryOp::FloorMod, std::move(a), std::move(b));
}
Expr min(Expr a, Expr b) { return make_binary(BinaryOp::Min, std::move(a), std::move(b)); }
Expr max(Expr a, Expr b) { return make_binary(BinaryOp::Max, std::move(a), std::move(b)); }
Expr operator<(Expr a, Expr b) { return make_binary(BinaryOp::Lt, std::move(a), std::move(b)); }
Expr operator<=(Expr a, Expr b) { return make_binary(BinaryOp::Le, std::move(a), std::move(b)); }
Expr operator>=(Expr a, Expr b) { return make_binary(BinaryOp::Ge, std::move(a), std::move(b)); }
Expr operator&&(Expr a, Expr b) { return make_binary(BinaryOp::And, std::move(a), std::move(b)); }
Expr operator+(const Expr& a, int64_t b) { return a + make_int(b, a->type); }
Expr operator-(const Expr& a, int64_t b) { return a - make_int(b, a->type); }
Expr operator*(const Expr& a, int64_t b) { return a * make_int(b, a->type); }
Expr floordiv(const Expr& a, int64_t b) { return floordiv(a, make_int(b, a->type)); }
Expr floormod(const Expr& a, int64_t b) { return floormod(a, make_int(b, a->type)); }

bool is_true(const Expr& e) {
  if (const auto* b = as<Broadcast>(e)) return is_true(b->value);
  return e->type.element().is_bool() && is_int(e, 1);
}
bool is_false(const Expr& e) {
  if (const auto* b = as<Broadcast>(e)) return is_false(b->value);
  return e->type.element().is_bool() && is_int(e, 0);
}

}  // namespace texloom::ir
