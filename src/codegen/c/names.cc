#include "codegen/c/names.h"

#include <fmt/format.h>

#include <algorithm>

namespace texloom::codegen {

const std::string_view kReservedInC =
    // C99
    " auto break case complex const continue default do else enum extern false for goto if "
    "imaginary inline main NULL register restrict return signed sizeof static struct "
    "switch true typedef union unsigned void volatile while "
    // C++, and what compilers define by themselves
    "alignas alignof and asm catch class compl constexpr decltype delete explicit export "
    "friend mutable namespace new noexcept not nullptr operator or protected public "
    "template this throw try typeid typename typeof using virtual xor linux unix "
    "kernel_exec ";

namespace {

bool is_word_of(std::string_view words, std::string_view word) {
  return words.find(fmt::format(" {} ", word)) != std::string_view::npos;
}

bool is_vector_type(std::string_view types, std::string_view identifier) {
  const size_t digits = identifier.find_last_not_of("0123456789") + 1;
  return is_word_of(types, identifier.substr(0, digits));
}

bool is_identifier_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Limits identifiers because drivers use a kernel's name as part of a file name.
constexpr size_t kMaxLength = 128;

// Shortens the middle: names often differ only at their end, where kernels are numbered.
std::string shortened(std::string_view name) {
  if (name.size() <= kMaxLength) return std::string(name);
  return fmt::format("{}_{}", name.substr(0, kMaxLength / 2), name.substr(name.size() - 32));
}

}  // namespace

bool ReservedWords::contains(std::string_view identifier) const {
  const auto begins = [&](std::string_view prefix) { return identifier.starts_with(prefix); };
  const auto holds = [&](std::string_view list) { return is_word_of(list, identifier); };
  return std::any_of(prefixes.begin(), prefixes.end(), begins) ||
         is_vector_type(vector_types, identifier) || std::any_of(lists.begin(), lists.end(), holds);
}

std::string Names::to_identifier(std::string_view name) const {
  std::string identifier = shortened(name);
  for (char& c : identifier) {
    if (!is_identifier_character(c)) c = '_';
  }
  if (identifier.empty() || (identifier.front() >= '0' && identifier.front() <= '9')) {
    identifier.insert(0, 1, '_');
  }
  if (reserved_.contains(identifier)) identifier.insert(0, "v_");
  return identifier;
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

}  // namespace texloom::codegen
