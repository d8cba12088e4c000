#include "tests/softmetal/source/conversions.h"

#include "tests/softmetal/source/declarations.h"

namespace softmetal {

void rewrite_static_casts(Code& code) {
  bool has_bfloat = false;
  for (size_t i = 0; i < code.size(); ++i) has_bfloat |= code.is(i, "bfloat");
  if (!has_bfloat) return;
  for (size_t i = 0; i + 1 < code.size(); ++i) {
    if (!code.is(i, "static_cast")) continue;
    const size_t behind = code.behind_template_arguments(i + 1, true);
    bool of_value = behind > i + 1 && !code.is(i + 2, "void");
    for (size_t k = i + 2; k < behind; ++k) of_value &= !code.is(k, "*") && !code.is(k, "&");
    if (of_value) code[i].replace(" ::metal::__sm_static_cast");
  }
}

std::set<std::string, std::less<>> functions_of_spaces(const Code& code) {
  std::set<std::string, std::less<>> names;
  for (size_t i = 1; i < code.size(); ++i) {
    if (!code.is(i, "(") || !code.is_identifier(i - 1)) continue;
    for (const auto& [begin, end] : split_at_commas(code, i + 1, code.closing(i))) {
      bool of_space = false;
      for (size_t k = begin; k < end; ++k) {
        of_space |= is_address_space(code[k]) && !code.is(k, "thread");
        if (of_space && code.is(k, "&")) names.emplace(code[i - 1].text);
      }
    }
  }
  return names;
}

void take_temporaries(Code& code, size_t begin, size_t end, Temporaries how) {
  size_t reference = end, space = end;
  bool is_const = false;
  for (size_t i = begin; i < end && reference == end; ++i) {
    const size_t behind = code.behind_template_arguments(i, true);
    if (behind > i && behind <= end) {
      i = behind - 1;
      continue;
    }
    if (code.is(i, "(") || code.is(i, "*") || code.is(i, "&&")) return;
    is_const |= code.is(i, "const");
    if (code.is(i, "thread")) space = i;
    if (code.is(i, "&")) reference = i;
  }
  if (!is_const || reference == end || space == end) return;
  code[space].replace(how == Temporaries::ByValue ? "" : "__generic");
  if (how == Temporaries::ByReference) return;
  code[reference].replace("");
  if (code.is(reference + 1, "__restrict")) code[reference + 1].replace("");
}

}  // namespace softmetal
