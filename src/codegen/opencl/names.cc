#include "codegen/opencl/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace texloom::codegen::opencl {
namespace {

// Everything that begins like this is reserved. Families of built-in functions come with many
// endings (convert_int4_sat_rte), so their beginnings stand for them.
constexpr auto kPrefixes = std::to_array<std::string_view>({
    "__",     "as_",    "async_",   "atom_",   "atomic_",    "CHAR_",   "cl_",
    "CL_",    "CLK_",   "convert_", "DBL_",    "enqueue_",   "FLT_",    "FP_",
    "get_",   "half_",  "HALF_",    "image1d", "image2d",    "image3d", "INT_",
    "intel_", "LONG_",  "M_",       "native_", "read_image", "SCHAR_",  "SHRT_",
    "tl_",    "UCHAR_", "UINT_",    "ULONG_",  "vload",      "vstore",  "write_image",
});

// Types with vectors: the name alone and with 2, 3, 4, 8 or 16 behind it.
constexpr std::string_view kVectorTypes =
    " bool char double float half int long quad short uchar uint ulong ushort ";

// Each with a space before and behind it.
constexpr std::string_view kWords =
    // C99
    " auto break case complex const continue default do else enum extern false for goto if "
    "imaginary inline main NULL register restrict return signed sizeof static struct "
    "switch true typedef union unsigned void volatile while "
    // OpenCL C
    "complex_t constant event_t generic global intptr_t kernel local ndrange_t pipe printf "
    "private ptrdiff_t queue_t read_only read_write sampler_t size_t uintptr_t uniform "
    "write_only clk_event_t block_t HUGE_VAL HUGE_VALF INFINITY MAXFLOAT NAN CHAR_BIT "
    // C++ for OpenCL, and what compilers define by themselves
    "alignas alignof and asm catch class compl constexpr decltype delete explicit export "
    "friend mutable namespace new noexcept not nullptr operator or protected public "
    "template this throw try typeid typename typeof using virtual xor linux unix "
    "kernel_exec "
    // built-in functions
    "abs abs_diff acos acosh acospi add_sat all any asin asinh asinpi atan atan2 atan2pi "
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

bool is_word_of(std::string_view words, std::string_view word) {
  return words.find(fmt::format(" {} ", word)) != std::string_view::npos;
}

bool is_vector_type(std::string_view identifier) {
  const size_t digits = identifier.find_last_not_of("0123456789") + 1;
  return is_word_of(kVectorTypes, identifier.substr(0, digits));
}

bool is_identifier_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Drivers put a kernel's name into that of a file.
constexpr size_t kMaxLength = 128;

// What tells names apart is often their end: kernels' numbers.
std::string shortened(std::string_view name) {
  if (name.size() <= kMaxLength) return std::string(name);
  return fmt::format("{}_{}", name.substr(0, kMaxLength / 2), name.substr(name.size() - 32));
}

std::string to_identifier(std::string_view name) {
  std::string identifier = shortened(name);
  for (char& c : identifier) {
    if (!is_identifier_character(c)) c = '_';
  }
  if (identifier.empty() || (identifier.front() >= '0' && identifier.front() <= '9')) {
    identifier.insert(0, 1, '_');
  }
  if (is_reserved(identifier)) identifier.insert(0, "v_");
  return identifier;
}

}  // namespace

bool is_reserved(std::string_view identifier) {
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return identifier.starts_with(prefix); }) ||
         is_vector_type(identifier) || is_word_of(kWords, identifier);
}

const std::string& Names::of(const void* owner, std::string_view name) {
  const auto found = names_.find(owner);
  if (found != names_.end()) return found->second;
  return names_.emplace(owner, unused(to_identifier(name))).first->second;
}

std::string Names::unused(const std::string& identifier) {
  std::string candidate = identifier;
  while (!used_.insert(candidate).second) {
    candidate = fmt::format("{}_{}", identifier, ++counts_[identifier]);
  }
  return candidate;
}

}  // namespace texloom::codegen::opencl
