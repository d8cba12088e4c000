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

// "texloom.exp.f32", "texloom.exp.f32x8"
std::string name_of(Intrinsic function, llvm::Type* type) {
  std::string name = "texloom." + std::string(info(function).te_name);
  name += type->getScalarType()->isDoubleTy() ? ".f64" : ".f32";
  if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
    name += "x" + std::to_string(vector->getNumElements());
  return name;
}

Real value_of(const Definition& definition, llvm::ArrayRef<Real> arguments) {
  return definition.unary != nullptr ? definition.unary(arguments[0])
                                     : definition.binary(arguments[0], arguments[1]);
}

void define(llvm::Function& function, const Definition& definition, bool has_fma) {
  function.setLinkage(llvm::Function::InternalLinkage);
  function.addFnAttr(llvm::Attribute::AlwaysInline);
  llvm::Type* type = function.getReturnType();
  const bool is_single = type->getScalarType()->isFloatTy();
  const bool widens = is_single && definition.single == Single::Double;
  Builder b(llvm::BasicBlock::Create(function.getContext(), "entry", &function));
  llvm::Type* computed = widens ? type->getWithNewType(b.getDoubleTy()) : type;
  const Arithmetic in(b, computed, is_single, has_fma);
  llvm::SmallVector<Real, 2> arguments;
  for (llvm::Argument& each : function.args())
    arguments.push_back({&in, widens ? b.CreateFPExt(&each, computed) : &each});
  Value* value = value_of(definition, arguments).value;
  if (widens) value = b.CreateFPTrunc(value, type);
  if (definition.beyond != nullptr) {
    const Real angle = arguments.front();
    const Mask is_large = !(abs(angle) <= number(in, largest_angle(in.is_coarse())));
    value = with_library(b, definition.beyond, is_large.value, function.getArg(0), value);
  }
  b.CreateRet(value);
}

bool has_fma(const llvm::TargetMachine& machine) {
  return machine.getTargetTriple().isAArch64() ||
         machine.getMCSubtargetInfo()->checkFeatures("+fma");
}

}  // namespace

bool is_defined(Intrinsic function) { return definition_of(function) != nullptr; }

Value* call(Builder& b, Intrinsic function, llvm::ArrayRef<Value*> arguments) {
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  llvm::Type* type = arguments.front()->getType();
  const llvm::SmallVector<llvm::Type*, 2> parameters(arguments.size(), type);
  const std::string name = name_of(function, type);
  llvm::Function* callee = module.getFunction(name);
  if (callee == nullptr) {
    callee = llvm::Function::Create(llvm::FunctionType::get(type, parameters, false),
                                    llvm::Function::ExternalLinkage, name, module);
    callee->addFnAttr(kAttribute, info(function).te_name);
    callee->setDoesNotAccessMemory();
    callee->setDoesNotThrow();
    callee->setWillReturn();
  }
  return b.CreateCall(callee, arguments);
}

void define_functions(llvm::Module& module, const llvm::TargetMachine& machine) {
  for (llvm::Function& function : module) {
    const llvm::Attribute attribute = function.getFnAttribute(kAttribute);
    if (!function.isDeclaration() || !attribute.isValid()) continue;
    const ir::IntrinsicInfo* found = ir::find_intrinsic(attribute.getValueAsString());
    TL_CHECK(found != nullptr, "a declaration of no function");
    define(function, *definition_of(found->function), has_fma(machine));
  }
}

}  // namespace texloom::codegen::native::math
