#include "codegen/opencl/reserved_words.h"

#include <array>
#include <string_view>

#include "support/identifiers.h"

namespace texloom::codegen::opencl {
namespace {

// Families of built-in functions have many suffixes (convert_int4_sat_rte), so they are listed by
// prefix.
constexpr auto kPrefixes = std::to_array<std::string_view>({
    "__",     "as_",    "async_",   "atom_",   "atomic_",    "CHAR_",   "cl_",
    "CL_",    "CLK_",   "convert_", "DBL_",    "enqueue_",   "FLT_",    "FP_",
    "get_",   "half_",  "HALF_",    "image1d", "image2d",    "image3d", "INT_",
    "intel_", "LONG_",  "M_",       "native_", "read_image", "SCHAR_",  "SHRT_",
    "tl_",    "UCHAR_", "UINT_",    "ULONG_",  "vload",      "vstore",  "write_image",
});

constexpr std::string_view kBuiltInFunctions =
    " abs abs_diff acos acosh acospi add_sat all any asin asinh asinpi atan atan2 atan2pi "
    "atanh atanpi bitselect cbrt ceil clamp clz copysign cos cosh cospi cross ctz degrees "
    "distance dot erf erfc exp exp10 exp2 expm1 fabs fast_distance fast_length "
    "fast_normalize fdim floor fma fmax fmin fmod fract frexp hadd hypot ilogb isequal "
    "isfinite isgreater isgreaterequal isinf isless islessequal islessgreater isnan "
    "isnormal isnotequal isordered isunordered ldexp length lgamma lgamma_r log log10 "
    "log1p log2 logb mad mad24 mad_hi mad_sat max maxmag min minmag mix modf mul24 mul_hi "
    "nan nextafter normalize popcount pow pown powr prefetch radians remainder remquo "
    "rhadd rint rootn rotate round rsqrt select shuffle shuffle2 sign signbit sin sincos "
    "sinh sinpi smoothstep sqrt step sub_sat tan tanh tanpi tgamma trunc upsample vec_step barrier "
    "mem_fence read_mem_fence "
    "write_mem_fence wait_group_events work_group_barrier ";

}  // namespace

const ReservedWords& reserved_words() {
  static const std::array<std::string_view, 3> lists = {kReservedInC, kReservedInOpenClC,
                                                        kBuiltInFunctions};
  static const ReservedWords words{kPrefixes, kVectorTypesOfOpenClC, lists};
  return words;
}

}  // namespace texloom::codegen::opencl
