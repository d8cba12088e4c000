#include "codegen/llvm/plugin/math/functions.h"

#include <llvm/MC/MCSubtargetInfo.h>

#include <array>
#include <string>

#include "codegen/llvm/plugin/math/branches.h"
#include "codegen/llvm/plugin/math/definitions.h"
#include "support/check.h"

namespace texloom::codegen::native::math {

namespace {

using ir::Intrinsic;
using llvm::Value;
using Builder = llvm::IRBuilder<>;

// What float32 functions are computed in.
enum class Single : uint8_t {
  Itself,  // fast
  Double,  // simple and precise: rounding errors in double do not matter
};

struct Definition {
  Intrinsic function;
  Single single;
  Real (*unary)(Real) = nullptr;
  Real (*binary)(Real, Real) = nullptr;
  // The function of the C library for angles above largest_angle(), whose reduction needs hundreds
  // of digits of pi.
  const char* beyond = nullptr;
  // LLVM's function, for processors that have an instruction for it.
  llvm::Intrinsic::ID instruction = llvm::Intrinsic::not_intrinsic;
};

using enum Intrinsic;
constexpr std::array kDefinitions = {
    Definition{Exp, Single::Itself, exp},
    Definition{Exp2, Single::Itself, exp2},
    Definition{Exp10, Single::Itself, exp10},
    Definition{Log, Single::Itself, log},
    Definition{Log2, Single::Itself, log2},
    Definition{Log10, Single::Itself, log10},
    Definition{Log1p, Single::Itself, log1p},
    Definition{Sin, Single::Double, sin, nullptr, "sin"},
    Definition{Cos, Single::Double, cos, nullptr, "cos"},
    Definition{Tan, Single::Double, tan, nullptr, "tan"},
    Definition{Sinh, Single::Double, sinh},
    Definition{Cosh, Single::Double, cosh},
    Definition{Tanh, Single::Itself, tanh},
    Definition{Asin, Single::Double, asin},
    Definition{Acos, Single::Double, acos},
    Definition{Atan, Single::Double, atan},
    Definition{Asinh, Single::Double, asinh},
    Definition{Acosh, Single::Double, acosh},
    Definition{Atanh, Single::Double, atanh},
    Definition{Erf, Single::Itself, erf},
    Definition{Erfc, Single::Double, erfc},
    Definition{Cbrt, Single::Double, cbrt},
    Definition{Expm1, Single::Itself, expm1},
    Definition{Power, Single::Double, nullptr, pow},
    Definition{Atan2, Single::Double, nullptr, atan2},
    Definition{Hypot, Single::Double, nullptr, hypot},
    Definition{Nextafter, Single::Itself, nullptr, nextafter},
    Definition{Ldexp, Single::Itself, nullptr, ldexp},
    Definition{Floor, Single::Itself, floor, nullptr, nullptr, llvm::Intrinsic::floor},
    Definition{Ceil, Single::Itself, ceil, nullptr, nullptr, llvm::Intrinsic::ceil},
    Definition{Trunc, Single::Itself, trunc, nullptr, nullptr, llvm::Intrinsic::trunc},
    Definition{Round, Single::Itself, round, nullptr, nullptr, llvm::Intrinsic::round},
    Definition{Nearbyint, Single::Itself, nearbyint, nullptr, nullptr, llvm::Intrinsic::nearbyint},
    Definition{NativeExp, Single::Itself, exp},
    Definition{NativeExp2, Single::Itself, exp2},
    Definition{NativeExp10, Single::Itself, exp10},
    Definition{NativeLog, Single::Itself, log},
    Definition{NativeLog2, Single::Itself, log2},
    Definition{NativeLog10, Single::Itself, log10},
    Definition{NativeSin, Single::Double, sin, nullptr, "sin"},
    Definition{NativeCos, Single::Double, cos, nullptr, "cos"},
    Definition{NativeTan, Single::Double, tan, nullptr, "tan"},
    Definition{NativePowr, Single::Double, nullptr, pow},
};

const Definition* definition_of(Intrinsic function) {
  for (const Definition& each : kDefinitions) {
    if (each.function == function) return &each;
  }
  return nullptr;
}

// The attribute of a declaration that names its function.
constexpr llvm::StringLiteral kAttribute = "texloom-math";
constexpr std::string_view kFused = "fma";

// "texloom.exp.f32", "texloom.exp.f32x8"
std::string name_of(std::string_view function, llvm::Type* type) {
  std::string name = "texloom." + std::string(function);
  name += type->getScalarType()->isDoubleTy() ? ".f64" : ".f32";
  if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
    name += "x" + std::to_string(vector->getNumElements());
  return name;
}

Value* call_declared(Builder& b, std::string_view function, llvm::ArrayRef<Value*> arguments) {
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  llvm::Type* type = arguments.front()->getType();
  const llvm::SmallVector<llvm::Type*, 3> parameters(arguments.size(), type);
  const std::string name = name_of(function, type);
  llvm::Function* callee = module.getFunction(name);
  if (callee == nullptr) {
    callee = llvm::Function::Create(llvm::FunctionType::get(type, parameters, false),
                                    llvm::Function::ExternalLinkage, name, module);
    callee->addFnAttr(kAttribute, function);
    callee->setDoesNotAccessMemory();
    callee->setDoesNotThrow();
    callee->setWillReturn();
  }
  return b.CreateCall(callee, arguments);
}

Processor processor_of(const llvm::TargetMachine& machine) {
  if (machine.getTargetTriple().isAArch64()) return {true, true, false};
  const llvm::MCSubtargetInfo& info = *machine.getMCSubtargetInfo();
  return {info.checkFeatures("+fma"), info.checkFeatures("+sse4.1"),
          info.checkFeatures("+avx512vl")};
}

Real value_of(const Definition& definition, llvm::ArrayRef<Real> arguments) {
  return definition.unary != nullptr ? definition.unary(arguments[0])
                                     : definition.binary(arguments[0], arguments[1]);
}

// The arguments, as doubles if the formulas are `wide`.
llvm::SmallVector<Real, 3> arguments_of(llvm::Function& function, const Arithmetic& in, bool wide) {
  llvm::SmallVector<Real, 3> all;
  for (llvm::Argument& each : function.args())
    all.push_back({&in, wide ? in.builder().CreateFPExt(&each, in.type()) : &each});
  return all;
}

void define(llvm::Function& function, const Definition& definition, const Processor& processor) {
  llvm::Type* type = function.getReturnType();
  Builder b(llvm::BasicBlock::Create(function.getContext(), "entry", &function));
  if (definition.instruction != llvm::Intrinsic::not_intrinsic && processor.has_roundings) {
    b.CreateRet(b.CreateUnaryIntrinsic(definition.instruction, function.getArg(0)));
    return;
  }
  const bool is_single = type->getScalarType()->isFloatTy();
  const bool widens = is_single && definition.single == Single::Double;
  llvm::Type* computed = widens ? type->getWithNewType(b.getDoubleTy()) : type;
  const Arithmetic in(b, computed, is_single, processor);
  const llvm::SmallVector<Real, 3> arguments = arguments_of(function, in, widens);
  Value* value = value_of(definition, arguments).value;
  if (widens) value = b.CreateFPTrunc(value, type);
  if (definition.beyond != nullptr) {
    const Real angle = arguments.front();
    const Mask is_large = !(abs(angle) <= number(in, largest_angle(in.is_coarse())));
    value = with_library(b, definition.beyond, is_large.value, function.getArg(0), value);
  }
  b.CreateRet(value);
}

void define_fused(llvm::Function& function, const Processor& processor) {
  llvm::Type* type = function.getReturnType();
  Builder b(llvm::BasicBlock::Create(function.getContext(), "entry", &function));
  if (processor.has_fma || type->getScalarType()->isDoubleTy()) {
    b.CreateRet(b.CreateIntrinsic(llvm::Intrinsic::fma, {type},
                                  {function.getArg(0), function.getArg(1), function.getArg(2)}));
    return;
  }
  const Arithmetic in(b, type->getWithNewType(b.getDoubleTy()), true, processor);
  const llvm::SmallVector<Real, 3> arguments = arguments_of(function, in, true);
  const Real value = fused(arguments[0], arguments[1], arguments[2]);
  b.CreateRet(b.CreateFPTrunc(value.value, type));
}

}  // namespace

bool is_defined(Intrinsic function) { return definition_of(function) != nullptr; }

Value* call(Builder& b, Intrinsic function, llvm::ArrayRef<Value*> arguments) {
  return call_declared(b, info(function).te_name, arguments);
}

Value* call_fused(Builder& b, llvm::ArrayRef<Value*> arguments) {
  return call_declared(b, kFused, arguments);
}

void define_functions(llvm::Module& module, const llvm::TargetMachine& machine) {
  const Processor processor = processor_of(machine);
  for (llvm::Function& function : module) {
    const llvm::Attribute attribute = function.getFnAttribute(kAttribute);
    if (!function.isDeclaration() || !attribute.isValid()) continue;
    function.setLinkage(llvm::Function::InternalLinkage);
    function.addFnAttr(llvm::Attribute::AlwaysInline);
    const std::string_view name = attribute.getValueAsString();
    if (name == kFused) {
      define_fused(function, processor);
      continue;
    }
    const ir::IntrinsicInfo* found = ir::find_intrinsic(name);
    TL_CHECK(found != nullptr, "a declaration of no function");
    define(function, *definition_of(found->function), processor);
  }
}

}  // namespace texloom::codegen::native::math
