#include "codegen/c/names.h"

#include <fmt/format.h>

#include "support/identifiers.h"

namespace texloom::codegen {

namespace {

// Limits identifiers because drivers use a kernel's name as part of a file name.
constexpr size_t kMaxLength = 128;

// Shortens the middle: names often differ only at their end, where kernels are numbered.
std::string shortened(std::string_view name) {
  if (name.size() <= kMaxLength) return std::string(name);
  return fmt::format("{}_{}", name.substr(0, kMaxLength / 2), name.substr(name.size() - 32));
}

}  // namespace

std::string Names::to_identifier(std::string_view name) const {
  std::string identifier = shortened(name);
  for (char& c : identifier) {
    if (!is_identifier_character(c)) c = '_';
  }
  if (identifier.empty() || is_digit(identifier.front())) identifier.insert(0, 1, '_');
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
