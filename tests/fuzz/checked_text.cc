#include "tests/fuzz/checked_text.h"

#include <string>

#include "ir/parse.h"
#include "support/check.h"
#include "support/diagnostic.h"

namespace texloom::fuzz {

std::optional<ir::Program> checked_program(std::string_view text) {
  std::optional<ir::Program> program;
  try {
    program = ir::parse_program(text, "p.tl");
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
      const std::string again = to_string(ir::parse_program(printed, "p.tl"), {locations});
      TL_CHECK(again == printed, printed + "\nis read back as\n" + again);
    } catch (const UserError& error) {
      throw InternalError(printed + "\nis not read back: " + error.what());
    }
  }
  return program;
}

}  // namespace texloom::fuzz
