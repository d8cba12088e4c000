#include "ir/interpret/element_functions.h"

#include <algorithm>
#include <climits>
#include <cmath>

#include "support/check.h"

namespace texloom::ir {
namespace {

// Converts to int with saturation, as OpenCL C does; NaN becomes 0.
int saturated_int(double value) {
  if (std::isnan(value)) return 0;
  return static_cast<int>(std::clamp(value, double{INT_MIN}, double{INT_MAX}));
}

// A line per function, so that the compiler reports a missing function.
// clang-format off
template <class Number>
Number value_of(Intrinsic function, Number x, Number y) {
  switch (function) {
    case Intrinsic::Exp: case Intrinsic::NativeExp: return std::exp(x);
    case Intrinsic::Exp2: case Intrinsic::NativeExp2: return std::exp2(x);
    case Intrinsic::Exp10: case Intrinsic::NativeExp10: return std::pow(Number{10}, x);
    case Intrinsic::Log: case Intrinsic::NativeLog: return std::log(x);
    case Intrinsic::Log2: case Intrinsic::NativeLog2: return std::log2(x);
    case Intrinsic::Log10: case Intrinsic::NativeLog10: return std::log10(x);
    case Intrinsic::Log1p: return std::log1p(x);
    case Intrinsic::Sqrt: case Intrinsic::NativeSqrt: return std::sqrt(x);
    case Intrinsic::Rsqrt: case Intrinsic::NativeRsqrt: return Number{1} / std::sqrt(x);
    case Intrinsic::Sin: case Intrinsic::NativeSin: return std::sin(x);
    case Intrinsic::Cos: case Intrinsic::NativeCos: return std::cos(x);
    case Intrinsic::Tan: case Intrinsic::NativeTan: return std::tan(x);
    case Intrinsic::Sinh: return std::sinh(x);
    case Intrinsic::Cosh: return std::cosh(x);
    case Intrinsic::Tanh: return std::tanh(x);
    case Intrinsic::Asin: return std::asin(x);
    case Intrinsic::Acos: return std::acos(x);
    case Intrinsic::Atan: return std::atan(x);
    case Intrinsic::Asinh: return std::asinh(x);
    case Intrinsic::Acosh: return std::acosh(x);
    case Intrinsic::Atanh: return std::atanh(x);
    case Intrinsic::Erf: return std::erf(x);
    case Intrinsic::Erfc: return std::erfc(x);
    case Intrinsic::Cbrt: return std::cbrt(x);
    case Intrinsic::Expm1: return std::expm1(x);
    case Intrinsic::Tgamma: return std::tgamma(x);
    case Intrinsic::Floor: return std::floor(x);
    case Intrinsic::Ceil: return std::ceil(x);
    case Intrinsic::Trunc: return std::trunc(x);
    case Intrinsic::Round: return std::round(x);
    case Intrinsic::Nearbyint: return std::nearbyint(x);
    case Intrinsic::Abs: return std::abs(x);
    case Intrinsic::Power: case Intrinsic::NativePowr: return std::pow(x, y);
    case Intrinsic::Fmod: return std::fmod(x, y);
    case Intrinsic::Atan2: return std::atan2(x, y);
    case Intrinsic::Hypot: return std::hypot(x, y);
    case Intrinsic::Copysign: return std::copysign(x, y);
    case Intrinsic::Nextafter: return std::nextafter(x, y);
    case Intrinsic::Ldexp: return std::ldexp(x, saturated_int(y));
    case Intrinsic::NativeRecip: return Number{1} / x;
    case Intrinsic::NativeDivide: return x / y;
    case Intrinsic::Popcount: case Intrinsic::Clz: break;  // integer functions
    case Intrinsic::DotU8S8: case Intrinsic::DotS8S8: case Intrinsic::DotU8U8:
    case Intrinsic::DotS16S16: break;
  }
  TL_UNREACHABLE();
}
// clang-format on

}  // namespace

float element_function(Intrinsic function, float x, float y) { return value_of(function, x, y); }
double element_function(Intrinsic function, double x, double y) { return value_of(function, x, y); }

}  // namespace texloom::ir
