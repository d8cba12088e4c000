#include "tests/fuzz/checked_text.h"

#include <string>

#include "lower/te_text.h"
#include "support/check.h"
#include "support/diagnostic.h"

namespace texloom::fuzz {

std::optional<lower::Lowering> checked_program(std::string_view text) {
  std::optional<lower::Lowering> program;
  try {
    program = lower::parse_lowering(text, "p.tl");
  } catch (const UserError& error) {
    for (const Diagnostic& d : error.diagnostics()) {
      TL_CHECK(!d.message.empty() && !d.help.empty(), error.what());
    }
    TL_CHECK(error.diagnostics().front().location.known(), error.what());
    return std::nullopt;
  }
  for (const bool locations : {false, true}) {
    const std::string printed = to_string(*program, {.locations = locations});
    try {
      const std::string again = to_string(lower::parse_lowering(printed, "p.tl"), {locations});
      TL_CHECK(again == printed, printed + "\nis read back as\n" + again);
    } catch (const UserError& error) {
      throw InternalError(printed + "\nis not read back: " + error.what());
    }
  }
  return program;
}

}  // namespace texloom::fuzz
