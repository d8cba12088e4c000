// Compares the findings in a program with the findings that comments in its text expect.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/interpret/report.h"
#include "support/diagnostic.h"

namespace texloom::opt {

struct Finding {
  std::string kind;  // "error", "warning", or "report" (of the interpreter)
  SourceLocation location;
  std::string text;      // "TL6001: expected '='", "race in k, block (0, 0, 0) ...: ..."
  std::string rendered;  // as printed for the user
};

Finding finding_of(const Diagnostic& diagnostic);
// `text` is the text of the program; `file` is its name in locations.
Finding finding_of(const ir::Report& report, std::string_view text, std::string_view file);

// Expectations are comments such as `// expected-error {{TL6001: expected}}`, for any kind of
// finding. `@+2` or `@-1` after the kind is an offset from the comment's line. Each expects one
// finding in that line whose text contains the part in braces.
// Returns one line for each unexpected finding, each expectation without a finding, and each
// comment that begins like an expectation but is not one; empty if everything is as expected.
std::vector<std::string> unexpected(const std::vector<Finding>& findings, std::string_view text,
                                    std::string_view file);

}  // namespace texloom::opt
