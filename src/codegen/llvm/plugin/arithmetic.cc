#include "codegen/llvm/plugin/arithmetic.h"

#include <llvm/IR/Intrinsics.h>

#include "codegen/llvm/plugin/math/functions.h"
#include "codegen/llvm/plugin/math/library_call.h"
#include "codegen/llvm/plugin/types.h"
#include "support/check.h"

namespace texloom::codegen::native {

namespace {

using ir::BinaryOp;
using llvm::Value;
using Builder = llvm::IRBuilder<>;

llvm::Constant* integer(Value* like, int64_t value) {
  return llvm::ConstantInt::get(like->getType(), static_cast<uint64_t>(value), true);
}

// A divisor that does not trap. What a division by zero gives is open.
Value* divisor(Builder& b, Value* d) {
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(d);
      constant != nullptr && !constant->isZero())
    return d;
  return b.CreateSelect(b.CreateICmpEQ(d, integer(d, 0)), integer(d, 1), d);
}

bool is_positive_constant(Value* d) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(d);
  return constant != nullptr && constant->getValue().isStrictlyPositive();
}

// Truncates. The quotient of the least number by -1 wraps.
Value* quotient(Builder& b, Value* x, Value* d, bool is_signed) {
  Value* safe = divisor(b, d);
  if (!is_signed) return b.CreateUDiv(x, safe);
  if (is_positive_constant(safe)) return b.CreateSDiv(x, safe);
  Value* is_minus_one = b.CreateICmpEQ(safe, integer(safe, -1));
  Value* other = b.CreateSelect(is_minus_one, integer(safe, 1), safe);
  return b.CreateSelect(is_minus_one, b.CreateNeg(x), b.CreateSDiv(x, other));
}

Value* remainder(Builder& b, Value* x, Value* d, bool is_signed) {
  Value* safe = divisor(b, d);
  if (!is_signed) return b.CreateURem(x, safe);
  if (is_positive_constant(safe)) return b.CreateSRem(x, safe);
  Value* is_minus_one = b.CreateICmpEQ(safe, integer(safe, -1));
  return b.CreateSRem(x, b.CreateSelect(is_minus_one, integer(safe, 1), safe));
}

// Whether a truncated division left a remainder whose sign is not the divisor's.
Value* is_below(Builder& b, Value* rest, Value* d) {
  Value* is_left = b.CreateICmpNE(rest, integer(rest, 0));
  return b.CreateAnd(is_left, b.CreateICmpSLT(b.CreateXor(rest, d), integer(rest, 0)));
}

Value* shift_amount(Builder& b, Value* amount, int bits) {
  return b.CreateAnd(amount, integer(amount, bits - 1));
}

Value* emit_float(Builder& b, BinaryOp op, Value* x, Value* y) {
  switch (op) {
    case BinaryOp::Add:
      return b.CreateFAdd(x, y);
    case BinaryOp::Sub:
      return b.CreateFSub(x, y);
    case BinaryOp::Mul:
      return b.CreateFMul(x, y);
    case BinaryOp::Div:
      return b.CreateFDiv(x, y);
    case BinaryOp::Min:
      return b.CreateMinNum(x, y);
    case BinaryOp::Max:
      return b.CreateMaxNum(x, y);
    case BinaryOp::Eq:
      return b.CreateFCmpOEQ(x, y);
    case BinaryOp::Ne:
      return b.CreateFCmpUNE(x, y);
    case BinaryOp::Lt:
      return b.CreateFCmpOLT(x, y);
    case BinaryOp::Le:
      return b.CreateFCmpOLE(x, y);
    case BinaryOp::Gt:
      return b.CreateFCmpOGT(x, y);
    case BinaryOp::Ge:
      return b.CreateFCmpOGE(x, y);
    default:
      TL_UNREACHABLE("not an operation of floating-point numbers");
  }
}

Value* emit_integer(Builder& b, BinaryOp op, ir::Type type, Value* x, Value* y, bool is_index) {
  const bool is_signed = type.is_int();
  const bool nsw = is_index && is_signed && type.bits >= 32;
  switch (op) {
    case BinaryOp::Add:
      return b.CreateAdd(x, y, "", false, nsw);
    case BinaryOp::Sub:
      return b.CreateSub(x, y, "", false, nsw);
    case BinaryOp::Mul:
      return b.CreateMul(x, y, "", false, nsw);
    case BinaryOp::Div:
      return quotient(b, x, y, is_signed);
    case BinaryOp::Mod:
      return remainder(b, x, y, is_signed);
    case BinaryOp::FloorDiv: {
      Value* q = quotient(b, x, y, is_signed);
      if (!is_signed) return q;
      Value* rest = b.CreateSub(x, b.CreateMul(q, y));
      return b.CreateSelect(is_below(b, rest, y), b.CreateSub(q, integer(q, 1)), q);
    }
    case BinaryOp::FloorMod: {
      Value* rest = remainder(b, x, y, is_signed);
      if (!is_signed) return rest;
      return b.CreateSelect(is_below(b, rest, y), b.CreateAdd(rest, y), rest);
    }
    case BinaryOp::Min:
      return b.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, x,
                                     y);
    case BinaryOp::Max:
      return b.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, x,
                                     y);
    case BinaryOp::Eq:
      return b.CreateICmpEQ(x, y);
    case BinaryOp::Ne:
      return b.CreateICmpNE(x, y);
    case BinaryOp::Lt:
      return is_signed ? b.CreateICmpSLT(x, y) : b.CreateICmpULT(x, y);
    case BinaryOp::Le:
      return is_signed ? b.CreateICmpSLE(x, y) : b.CreateICmpULE(x, y);
    case BinaryOp::Gt:
      return is_signed ? b.CreateICmpSGT(x, y) : b.CreateICmpUGT(x, y);
    case BinaryOp::Ge:
      return is_signed ? b.CreateICmpSGE(x, y) : b.CreateICmpUGE(x, y);
    case BinaryOp::And:
    case BinaryOp::BitAnd:
      return b.CreateAnd(x, y);
    case BinaryOp::Or:
    case BinaryOp::BitOr:
      return b.CreateOr(x, y);
    case BinaryOp::BitXor:
      return b.CreateXor(x, y);
    case BinaryOp::Shl:
      return b.CreateShl(x, shift_amount(b, y, type.bits));
    case BinaryOp::Shr:
      return is_signed ? b.CreateAShr(x, shift_amount(b, y, type.bits))
                       : b.CreateLShr(x, shift_amount(b, y, type.bits));
  }
  TL_UNREACHABLE();
}

// A float32 that every narrower format rounds like the float64 itself: rounded to odd (Boldo and
// Melquiond, 2008).
Value* odd_single(Builder& b, Value* wide, llvm::Type* single) {
  Value* near = b.CreateFPTrunc(wide, single);
  Value* back = b.CreateFPExt(near, wide->getType());
  llvm::Type* bits_type = single->getWithNewType(b.getInt32Ty());
  Value* bits = b.CreateBitCast(near, bits_type);
  Value* is_even = b.CreateICmpEQ(b.CreateAnd(bits, integer(bits, 1)), integer(bits, 0));
  Value* is_inexact = b.CreateFCmpONE(back, wide);
  // Numbers are ordered by magnitude as their bits are.
  Value* magnitude = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, wide);
  Value* rounded_up =
      b.CreateFCmpOGT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back), magnitude);
  Value* step = b.CreateSelect(rounded_up, integer(bits, -1), integer(bits, 1));
  Value* odd = b.CreateSelect(b.CreateAnd(is_even, is_inexact), b.CreateAdd(bits, step), bits);
  return b.CreateBitCast(odd, single);
}

Value* single_of(Builder& b, ir::Type type, Value* value) {
  if (type.bits == 32) return value;
  return odd_single(b, value, value_type(ir::kFloat32.with_lanes(type.lanes), b.getContext()));
}

// The bits of the nearest bfloat16; ties to even.
Value* to_bfloat(Builder& b, Value* single, int lanes) {
  Value* bits =
      b.CreateBitCast(single, value_type(ir::Type::u(32).with_lanes(lanes), b.getContext()));
  Value* high = b.CreateLShr(bits, integer(bits, 16));
  Value* half = b.CreateAdd(b.CreateAnd(high, integer(bits, 1)), integer(bits, 0x7fff));
  Value* near = b.CreateLShr(b.CreateAdd(bits, half), integer(bits, 16));
  Value* quiet = b.CreateOr(high, integer(bits, 0x40));
  Value* chosen = b.CreateSelect(b.CreateFCmpUNO(single, single), quiet, near);
  return b.CreateTrunc(chosen, value_type(ir::Type::u(16).with_lanes(lanes), b.getContext()));
}

Value* of_bfloat(Builder& b, Value* bits, int lanes) {
  llvm::LLVMContext& context = b.getContext();
  Value* wide = b.CreateZExt(bits, value_type(ir::Type::u(32).with_lanes(lanes), context));
  return b.CreateBitCast(b.CreateShl(wide, integer(wide, 16)),
                         value_type(ir::kFloat32.with_lanes(lanes), context));
}

}  // namespace

Value* emit_binary(Builder& b, BinaryOp op, ir::Type operands, Value* x, Value* y, bool is_index) {
  return operands.is_float() ? emit_float(b, op, x, y)
                             : emit_integer(b, op, operands, x, y, is_index);
}

Value* emit_cast(Builder& b, ir::Type from, ir::Type to, Value* value) {
  llvm::Type* type = value_type(to, b.getContext());
  if (from.is_float() && to.is_float()) {
    if (to.code == ir::TypeCode::BFloat) return to_bfloat(b, single_of(b, from, value), to.lanes);
    if (from.code == ir::TypeCode::BFloat) value = of_bfloat(b, value, to.lanes);
    if (to.bits == 16) return b.CreateFPTrunc(single_of(b, from, value), type);
    return b.CreateFPCast(value, type);
  }
  // What a number outside of the integer type becomes is open, but it is one number.
  if (from.is_float())
    return b.CreateFreeze(to.is_int() ? b.CreateFPToSI(value, type) : b.CreateFPToUI(value, type));
  if (to.is_float())
    return from.is_int() ? b.CreateSIToFP(value, type) : b.CreateUIToFP(value, type);
  return b.CreateIntCast(value, type, from.is_int());
}

Value* emit_call(Builder& b, ir::Intrinsic function, ir::Type type, llvm::ArrayRef<Value*> args) {
  using enum ir::Intrinsic;
  Value* x = args.front();
  llvm::Type* result = value_type(type, b.getContext());
  const auto number = [&](double value) { return llvm::ConstantFP::get(result, value); };
  if (math::is_defined(function)) return math::call(b, function, args);
  if (!type.is_float()) {
    if (function == Popcount) return b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, x);
    const auto id = function == Clz ? llvm::Intrinsic::ctlz : llvm::Intrinsic::abs;
    return b.CreateIntrinsic(id, {result}, {x, b.getFalse()});
  }
  switch (function) {
    case Abs:
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    case Sqrt:
    case NativeSqrt:
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
    case Tgamma:
      return library_call(b, "tgamma", args);
    case Fmod:
      return library_call(b, "fmod", args);
    case Rsqrt:
    case NativeRsqrt:
      return b.CreateFDiv(number(1), b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x));
    case Copysign:
      return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, x, args[1]);
    case NativeRecip:
      return b.CreateFDiv(number(1), x);
    case NativeDivide:
      return b.CreateFDiv(x, args[1]);
    default:
      TL_UNREACHABLE("a function that the LLVM backend lacks");
  }
}

Value* emit_fma(Builder& b, llvm::ArrayRef<Value*> args) { return math::call_fused(b, args); }

Value* from_memory(Builder& b, ir::Type stored, ir::Type value, Value* elements) {
  if (stored.is_bool() || stored.element() == value.element()) return elements;
  return emit_cast(b, stored.with_lanes(value.lanes), value, elements);
}

Value* to_memory(Builder& b, ir::Type value, ir::Type stored, Value* elements) {
  if (stored.is_bool() || stored.element() == value.element()) return elements;
  return emit_cast(b, value, stored.with_lanes(value.lanes), elements);
}

}  // namespace texloom::codegen::native
