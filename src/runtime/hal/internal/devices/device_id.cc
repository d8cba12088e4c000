#include "runtime/hal/internal/devices/device_id.h"

#include "support/status.h"

namespace texloom::hal {

std::string device_id(std::string_view names) {
  std::string id;
  for (const char c : names) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.';
    const bool capital = c >= 'A' && c <= 'Z';
    if (letter || capital)
      id += capital ? static_cast<char>(c - 'A' + 'a') : c;
    else if (!id.empty() && id.back() != '-')
      id += '-';
  }
  while (!id.empty() && id.back() == '-') id.pop_back();
  return id;
}

std::string UniqueIds::add(std::string id) {
  const int place = ++seen_[id];
  return place == 1 ? id : fmt::format("{}-{}", id, place);
}

}  // namespace texloom::hal
