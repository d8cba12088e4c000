#include "lower/hints/pragma_number.h"

#include <charconv>

#include "support/diagnostic.h"

namespace texloom::lower {

int64_t pragma_number(const schedule::Stage& stage, const schedule::Pragma& pragma) {
  int64_t value = -1;
  const char* end = pragma.value.data() + pragma.value.size();
  const auto [last, problem] = std::from_chars(pragma.value.data(), end, value);
  if (problem == std::errc() && last == end && value >= 0) return value;
  fail(pragma.location, Code::BadPragma, "give an integer of at least 0",
       "the pragma {} of '{}' has the value '{}', which is not an integer of at least 0",
       pragma.key, stage.name(), pragma.value);
}

}  // namespace texloom::lower
