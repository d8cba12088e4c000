// Each enumerator of the index has the number of its counterpart in C++, so the order in C++ must
// not change. Only for the sources of this folder: the index is not part of the runtime's
// interface.
#pragma once

#include <package_generated.h>

#include <variant>

#include "runtime/package/package.h"

namespace texloom::runtime::index {

#define TL_SAME(name, cxx, enumerator) \
  static_assert(static_cast<int>(name::enumerator) == static_cast<int>(cxx::enumerator))

TL_SAME(TensorRole, runtime::TensorRole, Input);
TL_SAME(TensorRole, runtime::TensorRole, Output);
TL_SAME(TensorRole, runtime::TensorRole, Constant);
TL_SAME(TensorRole, runtime::TensorRole, Intermediate);

TL_SAME(ElementType, hal::ElementType, Bool);
TL_SAME(ElementType, hal::ElementType, Int8);
TL_SAME(ElementType, hal::ElementType, Int16);
TL_SAME(ElementType, hal::ElementType, Int32);
TL_SAME(ElementType, hal::ElementType, Int64);
TL_SAME(ElementType, hal::ElementType, UInt8);
TL_SAME(ElementType, hal::ElementType, UInt16);
TL_SAME(ElementType, hal::ElementType, UInt32);
TL_SAME(ElementType, hal::ElementType, UInt64);
TL_SAME(ElementType, hal::ElementType, Float16);
TL_SAME(ElementType, hal::ElementType, BFloat16);
TL_SAME(ElementType, hal::ElementType, Float32);
TL_SAME(ElementType, hal::ElementType, Float64);

TL_SAME(TexelFormat, hal::TexelFormat, Rgba8Int);
TL_SAME(TexelFormat, hal::TexelFormat, Rgba8UInt);
TL_SAME(TexelFormat, hal::TexelFormat, Rgba16Int);
TL_SAME(TexelFormat, hal::TexelFormat, Rgba16UInt);
TL_SAME(TexelFormat, hal::TexelFormat, Rgba32Int);
TL_SAME(TexelFormat, hal::TexelFormat, Rgba32UInt);
TL_SAME(TexelFormat, hal::TexelFormat, Rgba16Float);
TL_SAME(TexelFormat, hal::TexelFormat, Rgba32Float);
TL_SAME(TexelFormat, hal::TexelFormat, Rgba8Unorm);
TL_SAME(TexelFormat, hal::TexelFormat, Rgba16Unorm);

TL_SAME(Access, hal::Access, Read);
TL_SAME(Access, hal::Access, Write);
TL_SAME(Access, hal::Access, ReadWrite);

TL_SAME(Encoding, runtime::Encoding, Kernels);
TL_SAME(Encoding, runtime::Encoding, Native);
TL_SAME(Encoding, runtime::Encoding, Host);

TL_SAME(KernelFormat, KernelFormat, OpenClC);
TL_SAME(KernelFormat, KernelFormat, OpenClBinary);
TL_SAME(KernelFormat, KernelFormat, Msl);
TL_SAME(KernelFormat, KernelFormat, HostFunctions);
TL_SAME(KernelFormat, KernelFormat, Ir);
TL_SAME(KernelFormat, KernelFormat, Metallib);
TL_SAME(KernelFormat, KernelFormat, Spirv);
TL_SAME(KernelFormat, KernelFormat, NativeObject);

TL_SAME(TensorKind, TensorRef::Kind, Argument);
TL_SAME(TensorKind, TensorRef::Kind, Temporary);
TL_SAME(TensorKind, TensorRef::Kind, Constant);

TL_SAME(SizeOp, hal::Size::Op, Constant);
TL_SAME(SizeOp, hal::Size::Op, Symbol);
TL_SAME(SizeOp, hal::Size::Op, LoopVariable);
TL_SAME(SizeOp, hal::Size::Op, Add);
TL_SAME(SizeOp, hal::Size::Op, Sub);
TL_SAME(SizeOp, hal::Size::Op, Mul);
TL_SAME(SizeOp, hal::Size::Op, FloorDiv);
TL_SAME(SizeOp, hal::Size::Op, FloorMod);
TL_SAME(SizeOp, hal::Size::Op, Min);
TL_SAME(SizeOp, hal::Size::Op, Max);

TL_SAME(ConditionKind, SizeCondition::Kind, Equal);
TL_SAME(ConditionKind, SizeCondition::Kind, AtLeast);

#undef TL_SAME

// Kinds are the positions of the alternatives of a C++ variant.
template <class Variant, class Alternative, auto kind>
inline constexpr bool is_kind =
    std::is_same_v<std::variant_alternative_t<static_cast<std::size_t>(kind), Variant>,
                   Alternative>;

static_assert(is_kind<AttributeValue, std::int64_t, AttributeKind::Integer>);
static_assert(is_kind<AttributeValue, double, AttributeKind::Real>);
static_assert(is_kind<AttributeValue, std::string, AttributeKind::Text>);
static_assert(is_kind<TensorStorage, BufferStorage, StorageKind::Buffer>);
static_assert(is_kind<TensorStorage, TextureStorage, StorageKind::Texture>);
static_assert(is_kind<hal::KernelParam, hal::BufferParam, ParamKind::Buffer>);
static_assert(is_kind<hal::KernelParam, hal::TextureParam, ParamKind::Texture>);
static_assert(is_kind<hal::KernelParam, hal::ConstantParam, ParamKind::Constant>);
static_assert(is_kind<hal::KernelParam, hal::LocalParam, ParamKind::Local>);
static_assert(is_kind<runtime::Operand, TensorRef, OperandKind::Tensor>);
static_assert(is_kind<runtime::Operand, OriginOf, OperandKind::Origin>);
static_assert(is_kind<runtime::Operand, Immediate, OperandKind::Immediate>);
static_assert(is_kind<runtime::Operand, LoopVariable, OperandKind::LoopVariable>);
static_assert(is_kind<runtime::Operand, SymbolValue, OperandKind::Symbol>);
static_assert(is_kind<runtime::Operand, ScalarValue, OperandKind::Scalar>);
static_assert(is_kind<runtime::Operand, SizeValue, OperandKind::Size>);
static_assert(is_kind<runtime::Step, AllocateStep, StepKind::Allocate>);
static_assert(is_kind<runtime::Step, FreeStep, StepKind::Free>);
static_assert(is_kind<runtime::Step, LaunchStep, StepKind::Launch>);
static_assert(is_kind<runtime::Step, CallStep, StepKind::Call>);
static_assert(is_kind<runtime::Step, BarrierStep, StepKind::Barrier>);
static_assert(is_kind<runtime::Step, LoopStep, StepKind::Loop>);

// The last enumerator, below which a number from a file must be.
inline constexpr std::uint8_t kMaxMathMode = static_cast<std::uint8_t>(hal::MathMode::Fast);

}  // namespace texloom::runtime::index
