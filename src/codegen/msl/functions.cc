#include "codegen/msl/functions.h"

#include <fmt/format.h>

#include <array>

#include "codegen/c/function_names.h"
#include "codegen/msl/missing_functions.h"
#include "support/check.h"

namespace texloom::codegen::msl {
namespace {

using enum ir::Intrinsic;

// The functions of precise:: have the error bounds of Metal's table, whatever the options of
// Metal's compiler; the functions of fast:: have looser bounds. Functions in neither namespace are
// exact. Names that begin with "tl_" are functions of missing_functions.h. Functions that the
// dialect lacks have no name.
constexpr auto kNames = std::to_array<FunctionName>({
    {Exp, "precise::exp"},
    {Exp2, "precise::exp2"},
    {Exp10, "precise::exp10"},
    {Log, "precise::log"},
    {Log2, "precise::log2"},
    {Log10, "precise::log10"},
    {Log1p, ""},
    {Sqrt, "precise::sqrt"},
    {Rsqrt, "precise::rsqrt"},
    {Sin, "precise::sin"},
    {Cos, "precise::cos"},
    {Tan, "precise::tan"},
    {Sinh, "precise::sinh"},
    {Cosh, "precise::cosh"},
    {Tanh, "precise::tanh"},
    {Asin, "precise::asin"},
    {Acos, "precise::acos"},
    {Atan, "precise::atan"},
    {Asinh, "precise::asinh"},
    {Acosh, "precise::acosh"},
    {Atanh, "precise::atanh"},
    {Erf, ""},
    {Erfc, ""},
    {Cbrt, ""},
    {Expm1, ""},
    {Tgamma, "tl_tgamma"},
    {Floor, "floor"},
    {Ceil, "ceil"},
    {Trunc, "trunc"},
    {Round, "round"},
    {Nearbyint, "rint"},
    {Abs, "fabs"},
    {Power, "precise::pow"},
    {Fmod, "precise::fmod"},
    {Atan2, "precise::atan2"},
    {Hypot, ""},
    {Copysign, "copysign"},
    {Nextafter, "tl_nextafter"},
    {Ldexp, "ldexp"},
    {NativeExp, "fast::exp"},
    {NativeExp2, "fast::exp2"},
    {NativeExp10, "fast::exp10"},
    {NativeLog, "fast::log"},
    {NativeLog2, "fast::log2"},
    {NativeLog10, "fast::log10"},
    {NativeSin, "fast::sin"},
    {NativeCos, "fast::cos"},
    {NativeTan, "fast::tan"},
    {NativeSqrt, "fast::sqrt"},
    {NativeRsqrt, "fast::rsqrt"},
    {NativeRecip, ""},
    {NativeDivide, "fast::divide"},
    {NativePowr, "fast::powr"},
    {Popcount, "popcount"},
    {Clz, "clz"},
    {DotU8S8, ""},
    {DotS8S8, ""},
    {DotU8U8, ""},
    {DotS16S16, ""},
});
static_assert(names_all_functions(kNames), "give each function of ir/intrinsics.def a name in MSL");

constexpr std::string_view kPrecise = "precise::";

}  // namespace

std::string function_name(ir::Intrinsic function, ir::Type type, ir::LanguageVersion language,
                          Prelude& prelude) {
  const std::string_view name = kNames[static_cast<size_t>(function)].name;
  if (function == Nextafter && language >= ir::LanguageVersion{3, 1}) return "nextafter";
  if (name.starts_with("tl_")) return missing_function(prelude, name, type);
  // precise:: and fast:: have only float32 functions.
  const bool is_half = type.is_half() && name.starts_with(kPrecise);
  return std::string(is_half ? name.substr(kPrecise.size()) : name);
}

}  // namespace texloom::codegen::msl
