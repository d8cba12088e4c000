#include "tests/softmetal/compile/fields.h"

#include <cstdint>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace softmetal {
namespace {

std::string number(uint64_t value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }

uint64_t checksum(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

// Removes a number from the front of the bytes, which must start with one, and returns the number.
uint64_t take_number(std::string_view& bytes) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes.remove_prefix(sizeof value);
  return value;
}

}  // namespace

std::string write_fields(std::string_view kind, const std::vector<std::string>& fields) {
  std::string bytes = std::string(kind) + "\n";
  for (const std::string& field : fields) bytes += number(field.size()) + field;
  return bytes + number(checksum(bytes));
}

bool read_fields(std::string_view kind, std::string_view bytes, std::vector<std::string>& fields) {
  const std::string first = std::string(kind) + "\n";
  if (!bytes.starts_with(first) || bytes.size() < first.size() + sizeof(uint64_t)) return false;
  const std::string_view covered = bytes.substr(0, bytes.size() - sizeof(uint64_t));
  std::string_view sum = bytes.substr(covered.size());
  if (take_number(sum) != checksum(covered)) return false;
  for (std::string_view rest = covered.substr(first.size()); !rest.empty();) {
    if (rest.size() < sizeof(uint64_t)) return false;
    const uint64_t size = take_number(rest);
    if (size > rest.size()) return false;
    fields.emplace_back(rest.substr(0, size));
    rest.remove_prefix(size);
  }
  return true;
}

}  // namespace softmetal
