// Findings in one program, compared with those that comments in its text expect.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/interpret/report.h"
#include "support/diagnostic.h"

namespace texloom::opt {

struct Finding {
  std::string kind;  // "error", "warning", or "report" of the interpreter
  SourceLocation location;
  std::string text;      // "TL6001: expected '='", "race in k, block (0, 0, 0) ...: ..."
  std::string rendered;  // as a user reads it
};

Finding finding_of(const Diagnostic& diagnostic);
// `text` is that of the program, whose name in locations is `file`.
Finding finding_of(const ir::Report& report, std::string_view text, std::string_view file);

// Expectations are comments: `// expected-error {{TL6001: expected}}`, of any kind of finding.
// `@+2` or `@-1` after the kind counts lines from the comment's own. Each expects one finding in
// that line whose text contains this part.
//
// Returns one line for each finding that is not expected, each expectation without a finding, and
// each comment that begins like an expectation but is not one; no lines when all is as expected.
std::vector<std::string> unexpected(const std::vector<Finding>& findings, std::string_view text,
                                    std::string_view file);

}  // namespace texloom::opt
