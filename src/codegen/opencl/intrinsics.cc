#include "codegen/opencl/intrinsics.h"

#include <array>

#include "codegen/c/function_names.h"

namespace texloom::codegen::opencl {
namespace {

using enum ir::Intrinsic;

constexpr std::array kNames = {
    FunctionName{Exp, "exp"},
    FunctionName{Exp2, "exp2"},
    FunctionName{Exp10, "exp10"},
    FunctionName{Log, "log"},
    FunctionName{Log2, "log2"},
    FunctionName{Log10, "log10"},
    FunctionName{Log1p, "log1p"},
    FunctionName{Sqrt, "sqrt"},
    FunctionName{Rsqrt, "rsqrt"},
    FunctionName{Sin, "sin"},
    FunctionName{Cos, "cos"},
    FunctionName{Tan, "tan"},
    FunctionName{Sinh, "sinh"},
    FunctionName{Cosh, "cosh"},
    FunctionName{Tanh, "tanh"},
    FunctionName{Asin, "asin"},
    FunctionName{Acos, "acos"},
    FunctionName{Atan, "atan"},
    FunctionName{Asinh, "asinh"},
    FunctionName{Acosh, "acosh"},
    FunctionName{Atanh, "atanh"},
    FunctionName{Erf, "erf"},
    FunctionName{Erfc, "erfc"},
    FunctionName{Cbrt, "cbrt"},
    FunctionName{Expm1, "expm1"},
    FunctionName{Tgamma, "tgamma"},
    FunctionName{Floor, "floor"},
    FunctionName{Ceil, "ceil"},
    FunctionName{Trunc, "trunc"},
    FunctionName{Round, "round"},
    FunctionName{Nearbyint, "rint"},
    FunctionName{Abs, "fabs"},
    FunctionName{Power, "pow"},
    FunctionName{Fmod, "fmod"},
    FunctionName{Atan2, "atan2"},
    FunctionName{Hypot, "hypot"},
    FunctionName{Copysign, "copysign"},
    FunctionName{Nextafter, "nextafter"},
    FunctionName{Ldexp, "ldexp"},
    FunctionName{NativeExp, "native_exp"},
    FunctionName{NativeExp2, "native_exp2"},
    FunctionName{NativeExp10, "native_exp10"},
    FunctionName{NativeLog, "native_log"},
    FunctionName{NativeLog2, "native_log2"},
    FunctionName{NativeLog10, "native_log10"},
    FunctionName{NativeSin, "native_sin"},
    FunctionName{NativeCos, "native_cos"},
    FunctionName{NativeTan, "native_tan"},
    FunctionName{NativeSqrt, "native_sqrt"},
    FunctionName{NativeRsqrt, "native_rsqrt"},
    FunctionName{NativeRecip, "native_recip"},
    FunctionName{NativeDivide, "native_divide"},
    FunctionName{NativePowr, "native_powr"},
    FunctionName{Popcount, "popcount"},
    FunctionName{Clz, "clz"},
    FunctionName{DotU8S8, ""},
    FunctionName{DotS8S8, ""},
    FunctionName{DotU8U8, ""},
    FunctionName{DotS16S16, ""},
};

static_assert(names_all_functions(kNames),
              "give each function of ir/intrinsics.def a name in OpenCL C");

}  // namespace

std::string_view function_name(ir::Intrinsic function) {
  return kNames[static_cast<size_t>(function)].name;
}

}  // namespace texloom::codegen::opencl
