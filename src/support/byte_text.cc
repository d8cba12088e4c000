#include "support/byte_text.h"

#include <fmt/format.h>

#include <string_view>

namespace texloom {

std::string byte_text(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
  double value = static_cast<double>(bytes);
  std::string_view unit;
  for (const std::string_view next : {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}) {
    // A value that would be printed as 1024 of a unit is written as 1 of the next unit.
    if (!unit.empty() && value < 1023.95) break;
    value /= 1024;
    unit = next;
  }
  std::string number = fmt::format("{:.1f}", value);
  if (number.ends_with(".0")) number.resize(number.size() - 2);
  return fmt::format("{} {}", number, unit);
}

}  // namespace texloom
