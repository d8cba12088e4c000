#include "codegen/opencl/intrinsics.h"

#include <array>

namespace texloom::codegen::opencl {
namespace {

using enum ir::Intrinsic;

struct Row {
  ir::Intrinsic function;
  std::string_view name;
};

constexpr std::array kNames = {
    Row{Exp, "exp"},
    Row{Exp2, "exp2"},
    Row{Exp10, "exp10"},
    Row{Log, "log"},
    Row{Log2, "log2"},
    Row{Log10, "log10"},
    Row{Log1p, "log1p"},
    Row{Sqrt, "sqrt"},
    Row{Rsqrt, "rsqrt"},
    Row{Sin, "sin"},
    Row{Cos, "cos"},
    Row{Tan, "tan"},
    Row{Sinh, "sinh"},
    Row{Cosh, "cosh"},
    Row{Tanh, "tanh"},
    Row{Asin, "asin"},
    Row{Acos, "acos"},
    Row{Atan, "atan"},
    Row{Asinh, "asinh"},
    Row{Acosh, "acosh"},
    Row{Atanh, "atanh"},
    Row{Erf, "erf"},
    Row{Erfc, "erfc"},
    Row{Cbrt, "cbrt"},
    Row{Expm1, "expm1"},
    Row{Tgamma, "tgamma"},
    Row{Floor, "floor"},
    Row{Ceil, "ceil"},
    Row{Trunc, "trunc"},
    Row{Round, "round"},
    Row{Nearbyint, "rint"},
    Row{Abs, "fabs"},
    Row{Power, "pow"},
    Row{Fmod, "fmod"},
    Row{Atan2, "atan2"},
    Row{Hypot, "hypot"},
    Row{Copysign, "copysign"},
    Row{Nextafter, "nextafter"},
    Row{Ldexp, "ldexp"},
    Row{NativeExp, "native_exp"},
    Row{NativeExp2, "native_exp2"},
    Row{NativeExp10, "native_exp10"},
    Row{NativeLog, "native_log"},
    Row{NativeLog2, "native_log2"},
    Row{NativeLog10, "native_log10"},
    Row{NativeSin, "native_sin"},
    Row{NativeCos, "native_cos"},
    Row{NativeTan, "native_tan"},
    Row{NativeSqrt, "native_sqrt"},
    Row{NativeRsqrt, "native_rsqrt"},
    Row{NativeRecip, "native_recip"},
    Row{NativeDivide, "native_divide"},
    Row{NativePowr, "native_powr"},
    Row{Popcount, "popcount"},
    Row{Clz, "clz"},
};

// One row for each function of ir/intrinsics.def, in its order.
constexpr std::array kFunctions = {
#define TL_INTRINSIC(Name, te_name, arity) Name,
#include "ir/intrinsics.def"
#undef TL_INTRINSIC
};
constexpr bool names_all() {
  if (kNames.size() != kFunctions.size()) return false;
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i].function != kFunctions[i]) return false;
  }
  return true;
}
static_assert(names_all(), "give each function of ir/intrinsics.def a name in OpenCL C");

}  // namespace

std::string_view function_name(ir::Intrinsic function) {
  return kNames[static_cast<size_t>(function)].name;
}

}  // namespace texloom::codegen::opencl
