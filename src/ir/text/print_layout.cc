#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/layout/layout_pattern.h"
#include "ir/text/lexer.h"

namespace texloom::ir {

std::string to_string(const LayoutPattern& pattern) {
  std::vector<std::string> names, lists;
  for (const std::string& name : pattern.names) names.push_back(spell_name(name));
  const auto list = [&](std::string_view word, const LayoutParts& parts) {
    // A buffer has only columns.
    const bool only_cols = pattern.object == MemoryObject::Buffer && word != "cols";
    if (only_cols && parts.empty()) return;
    std::vector<std::string> texts;
    for (const LayoutPart& part : parts) {
      texts.push_back(to_string(part, names[static_cast<size_t>(part.axis)]));
    }
    lists.push_back(fmt::format("{}=({})", word, fmt::join(texts, ", ")));
  };
  list("rows", pattern.rows);
  list("cols", pattern.cols);
  list("lanes", pattern.lanes);
  if (pattern.padding == Padding::Zero) lists.emplace_back("padding=zero");
  return fmt::format("{}[({}) -> {}]", spelling(pattern.object), fmt::join(names, ", "),
                     fmt::join(lists, ", "));
}

}  // namespace texloom::ir
