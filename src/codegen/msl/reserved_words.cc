#include "codegen/msl/reserved_words.h"

#include <array>
#include <string_view>

#include "support/identifiers.h"

namespace texloom::codegen::msl {
namespace {

// Families of built-in functions, types and macros.
constexpr auto kPrefixes = std::to_array<std::string_view>({
    "__",          "as_type",    "atomic_",   "BFLT_",    "CHAR_",       "DBL_",
    "depth2d",     "FLT_",       "FP_",       "HALF_",    "imageblock",  "INT_",
    "interpolant", "intersect",  "LONG_",     "M_",       "METAL_",      "packed_",
    "quad_",       "raytracing", "SCHAR_",    "SHRT_",    "simd_",       "simdgroup",
    "texture1d",   "texture2d",  "texture3d", "texture_", "texturecube", "threadgroup_",
    "tl_",         "UCHAR_",     "UINT_",     "ULONG_",   "USHRT_",
});

constexpr std::string_view kVectorTypes =
    " bfloat bool char double float half int long short uchar uint ulong ushort ";

// Keywords of C++14 that C lacks, and words that Metal's language adds.
constexpr std::string_view kWords =
    " and_eq bitand bitor char16_t char32_t const_cast dynamic_cast not_eq or_eq reinterpret_cast "
    "static_assert static_cast thread_local wchar_t xor_eq "
    "access address array array_ref component compute constant coord device fragment "
    "function_constant kernel main matrix mem_flags mesh metal object object_data patch ptrdiff_t "
    "raster_order_group ray_data sampler size_t stitchable thread thread_scope threadgroup uniform "
    "vec vertex visible filter mip_filter compare_func border_color gradient2d level bias fast "
    "precise math intptr_t uintptr_t memory_order HUGE_VALF HUGE_VALH INFINITY MAXFLOAT MAXHALF "
    "NAN "
    "nullptr_t assert ";

constexpr std::string_view kBuiltInFunctions =
    " abs absdiff acos acosh addsat all any asin asinh atan atan2 atan2pi atanh ceil clamp clz "
    "copysign cos cosh cospi cross ctz degrees determinant distance distance_squared divide dot "
    "exp "
    "exp10 exp2 extract_bits fabs faceforward fdim floor fma fmax fmax3 fmedian3 fmin fmin3 fmod "
    "fract frexp hadd ilogb insert_bits isfinite isinf isnan isnormal isordered isunordered ldexp "
    "length length_squared log log10 log2 mad24 madhi madsat max max3 median3 min min3 mix modf "
    "mul24 mulhi nan nextafter normalize popcount pow powr radians reflect refract reverse_bits "
    "rhadd "
    "rint rotate round rsqrt saturate select sign signbit sin sincos sinh sinpi smoothstep sqrt "
    "step "
    "subsat tan tanh tanpi transpose trunc ";

}  // namespace

const ReservedWords& reserved_words() {
  static const std::array<std::string_view, 3> lists = {kReservedInC, kWords, kBuiltInFunctions};
  static const ReservedWords words{kPrefixes, kVectorTypes, lists};
  return words;
}

}  // namespace texloom::codegen::msl
