#include "support/identifiers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace texloom {

const std::string_view kReservedInC =
    // C99
    " auto break case complex const continue default do else enum extern false for goto if "
    "imaginary inline main NULL register restrict return signed sizeof static struct "
    "switch true typedef union unsigned void volatile while "
    // words of C++, and words that compilers define
    "alignas alignof and asm catch class compl constexpr decltype delete explicit export "
    "friend mutable namespace new noexcept not nullptr operator or protected public "
    "template this throw try typeid typename typeof using virtual xor linux unix "
    "kernel_exec ";

const std::string_view kReservedInOpenClC =
    " complex_t constant event_t generic global image1d_t image1d_array_t image1d_buffer_t "
    "image2d_t image2d_array_t image2d_depth_t image2d_array_depth_t image3d_t intptr_t kernel "
    "local ndrange_t pipe printf private ptrdiff_t queue_t read_only read_write sampler_t size_t "
    "uintptr_t uniform write_only clk_event_t block_t HUGE_VAL HUGE_VALF INFINITY MAXFLOAT NAN "
    "CHAR_BIT ";

const std::string_view kVectorTypesOfOpenClC =
    " bool char double float half int long quad short uchar uint ulong ushort ";

namespace {

bool is_word_of(std::string_view words, std::string_view word) {
  return words.find(fmt::format(" {} ", word)) != std::string_view::npos;
}

bool is_vector_type(std::string_view types, std::string_view identifier) {
  const std::size_t digits = identifier.find_last_not_of("0123456789") + 1;
  return is_word_of(types, identifier.substr(0, digits));
}

}  // namespace

bool ReservedWords::contains(std::string_view identifier) const {
  const auto begins = [&](std::string_view prefix) { return identifier.starts_with(prefix); };
  const auto holds = [&](std::string_view list) { return is_word_of(list, identifier); };
  return std::any_of(prefixes.begin(), prefixes.end(), begins) ||
         is_vector_type(vector_types, identifier) || std::any_of(lists.begin(), lists.end(), holds);
}

const ReservedWords& words_that_no_parameter_has() {
  // Compilers and implementations define words with these prefixes.
  static constexpr auto kPrefixes = std::to_array<std::string_view>({"__", "CL_", "CLK_", "M_"});
  static const std::array<std::string_view, 2> lists = {kReservedInC, kReservedInOpenClC};
  static const ReservedWords words{kPrefixes, kVectorTypesOfOpenClC, lists};
  return words;
}

}  // namespace texloom
