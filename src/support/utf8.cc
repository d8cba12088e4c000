#include "support/utf8.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace texloom {
namespace {

// Takes the first code point off the text; nullopt if it is not well formed.
std::optional<std::uint32_t> take_code_point(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  const std::size_t count = first < 0x80             ? 1
                            : (first & 0xe0) == 0xc0 ? 2
                            : (first & 0xf0) == 0xe0 ? 3
                            : (first & 0xf8) == 0xf0 ? 4
                                                     : 0;
  if (count == 0 || count > text.size()) return std::nullopt;
  std::uint32_t point = count == 1 ? first : first & (0x7fU >> count);
  for (std::size_t i = 1; i < count; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return std::nullopt;
    point = point << 6 | (byte(i) & 0x3fU);
  }
  text.remove_prefix(count);
  // The first code point that needs this number of bytes, indexed by the number.
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = point >= 0xd800 && point < 0xe000;
  if (point < kLeast[count] || point > 0x10ffff || is_surrogate) return std::nullopt;
  return point;
}

bool is_control(std::uint32_t point) { return point < 0x20 || (point >= 0x7f && point < 0xa0); }

bool is_text(std::string_view text, bool allows_control) {
  while (!text.empty()) {
    const auto point = take_code_point(text);
    if (!point || (!allows_control && is_control(*point))) return false;
  }
  return true;
}

}  // namespace

bool is_utf8(std::string_view text) { return is_text(text, true); }
bool is_plain_text(std::string_view text) { return is_text(text, false); }

}  // namespace texloom
