#include "ir/text/print_names.h"

#include <fmt/format.h>

#include "ir/text/lexer.h"

namespace texloom::ir {

std::string PrintNames::name(const void* owner, const std::string& base) {
  const auto [place, added] = names_.try_emplace(owner);
  if (added) {
    std::string unique = base;
    while (!taken_.insert(unique).second) unique = fmt::format("{}.{}", base, ++used_[base]);
    place->second = spell_name(unique);
  }
  return place->second;
}

void PrintNames::alias(const void* owner, std::string spelt) {
  names_.insert_or_assign(owner, std::move(spelt));
}

std::string location_text(const SourceLocation& where, PrintOptions options) {
  if (!options.locations) return {};
  return where.known() ? fmt::format(" @{}:{}", quote(*where.file), where.line) : " @?";
}

std::string output_text(int output) { return output == 0 ? "" : fmt::format("#{}", output); }

}  // namespace texloom::ir
