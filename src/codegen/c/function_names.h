// Tables of the names that element functions have in a language.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "ir/expr.h"

namespace texloom::codegen {

struct FunctionName {
  ir::Intrinsic function;
  std::string_view name;
};

// Whether the table has one row for each function of ir/intrinsics.def, in its order, so that a
// function is the index of its row.
template <size_t count>
constexpr bool names_all_functions(const std::array<FunctionName, count>& names) {
  constexpr std::array kFunctions = {
#define TL_INTRINSIC(Name, te_name, arity) ir::Intrinsic::Name,
#include "ir/intrinsics.def"
#undef TL_INTRINSIC
  };
  if (count != kFunctions.size()) return false;
  for (size_t i = 0; i < count; ++i) {
    if (names[i].function != kFunctions[i]) return false;
  }
  return true;
}

}  // namespace texloom::codegen
