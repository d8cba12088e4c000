// Tests expected and unexpected findings.
#include "apps/texloom-opt/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace texloom::opt {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Finding error_at(int line, const std::string& text) {
  return {"error", SourceLocation::make("p.tl", line), text, {}};
}
std::vector<std::string> unmet(const std::vector<Finding>& findings, std::string_view text) {
  return unexpected(findings, text, "p.tl");
}

TEST(Findings, AreExpectedInTheirLine) {
  const std::string_view text = "a\nb // expected-error {{TL1: x}}\n";
  EXPECT_THAT(unmet({error_at(2, "TL1: x is y")}, text), IsEmpty());
  EXPECT_THAT(unmet({}, text), ElementsAre("p.tl:2: no error contains 'TL1: x'"));
  EXPECT_THAT(
      unmet({error_at(1, "TL1: x")}, text),
      ElementsAre("p.tl:1: unexpected error: TL1: x", "p.tl:2: no error contains 'TL1: x'"));
  EXPECT_THAT(
      unmet({error_at(2, "TL2: x")}, text),
      ElementsAre("p.tl:2: unexpected error: TL2: x", "p.tl:2: no error contains 'TL1: x'"));
}

TEST(Findings, AreExpectedInOtherLines) {
  EXPECT_THAT(unmet({error_at(3, "e")}, "// expected-error@+2 {{e}}"), IsEmpty());
  EXPECT_THAT(unmet({error_at(1, "e")}, "\n//expected-error@-1{{e}}"), IsEmpty());
  EXPECT_THAT(unmet({error_at(1, "e")}, "// expected-error@+1 {{e}}"), testing::SizeIs(2));
}

// Each expectation matches one finding.
TEST(Findings, AreCounted) {
  const std::string_view once = "// expected-error {{e}}";
  const std::string_view twice = "// expected-error {{e}} expected-error {{e}}";
  EXPECT_THAT(unmet({error_at(1, "e"), error_at(1, "e")}, once),
              ElementsAre("p.tl:1: unexpected error: e"));
  EXPECT_THAT(unmet({error_at(1, "e"), error_at(1, "e")}, twice), IsEmpty());
  EXPECT_THAT(unmet({error_at(1, "e")}, twice), ElementsAre("p.tl:1: no error contains 'e'"));
}

TEST(Findings, AreOfTheirKind) {
  EXPECT_THAT(unmet({{"report", SourceLocation::make("p.tl", 1), "race", {}}},
                    "// expected-report {{race}}"),
              IsEmpty());
  EXPECT_THAT(unmet({error_at(1, "e")}, "// expected-warning {{e}}"), testing::SizeIs(2));
}

// A finding without a line, or with a line of another file, matches no expectation.
TEST(Findings, AreOfTheText) {
  const Finding nowhere{"error", {}, "e", {}};
  const Finding elsewhere{"error", SourceLocation::make("q.py", 1), "e", {}};
  EXPECT_THAT(unmet({nowhere, elsewhere}, ""),
              ElementsAre("an unknown line: unexpected error: e", "q.py:1: unexpected error: e"));
}

// A comment meant as an expectation is never ignored.
TEST(Findings, MisspelledExpectations) {
  for (const char* text :
       {"// expected-error {{}}", "// expected-error", "// expected-error {{e",
        "// expected-eror {{e}}", "// expected-error@1 {{e}}", "// expected-error@ {{e}}",
        "// expected-error@+x {{e}}", "// expected-error@+-1 {{e}}", "// expected-errors {{e}}"}) {
    EXPECT_THAT(unmet({}, text), ElementsAre("p.tl:1: 'expected-' does not begin an expectation"))
        << text;
  }
  // Outside a comment, the words are just a string.
  EXPECT_THAT(unmet({}, "\"expected-error\""), IsEmpty());
}

TEST(Findings, OfReports) {
  const ir::Report report{ir::ReportKind::Race, "A[0] is written", "k", ir::ThreadId{},
                          SourceLocation::make("p.tl", 2)};
  const Finding f = finding_of(report, "program\n  A[0] = 1.0\n", "p.tl");
  EXPECT_EQ(f.text, "race in k, block (0, 0, 0) thread (0, 0, 0): A[0] is written");
  EXPECT_EQ(f.rendered, f.text + "\n  --> p.tl:2\n   |  A[0] = 1.0");
  // Lines of another file cannot be shown.
  EXPECT_EQ(finding_of(report, "a\nb\n", "q.tl").rendered, f.text + "\n  --> p.tl:2");
  EXPECT_EQ(finding_of(report, "a\n", "p.tl").rendered, f.text + "\n  --> p.tl:2");
}

}  // namespace
}  // namespace texloom::opt
