#include "support/check.h"

#include <fmt/format.h>

namespace texloom {

void check_failed(const char* file, int line, const char* condition, const std::string& message) {
  throw InternalError(fmt::format(
      "internal error: check failed: {}{}{} ({}:{}); this is a bug in Texloom, please report it "
      "with the script that reproduces it",
      condition, message.empty() ? "" : ": ", message, file, line));
}

}  // namespace texloom
