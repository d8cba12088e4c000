#include "support/diagnostic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "support/check.h"

namespace texloom {
namespace {

Diagnostic unknown_scope(SourceLocation where, Severity severity = Severity::Error) {
  return {severity, Code::UnknownScope, std::move(where), "unknown scope 'texure'", "use 'texture'",
          {}};
}

// Writes a file of four lines, the last without a newline.
std::string script() {
  const std::string path = testing::TempDir() + "texloom_script.py";
  std::ofstream(path) << "import texloom\n  \ts.cache_read(A, 'texure')  \n \t \nlast";
  return path;
}

TEST(Codes, AreFourDigits) {
  EXPECT_EQ(code_text(Code::BadShape), "TL1001");
  EXPECT_EQ(code_text(Code::UnknownScope), "TL2001");
  EXPECT_EQ(code_text(static_cast<Code>(7)), "TL0007");
}

// The codes increase from row to row, and each has a text.
TEST(Codes, AreUniqueSortedAndDescribed) {
  const std::span<const CodeInfo> codes = all_codes();
  ASSERT_GE(codes.size(), 50U);
  for (size_t i = 0; i < codes.size(); ++i) {
    const int number = static_cast<int>(codes[i].code);
    EXPECT_GE(number, 1001);
    EXPECT_LE(number, 7999);
    if (i > 0) {
      EXPECT_LT(static_cast<int>(codes[i - 1].code), number) << codes[i].name;
    }
    EXPECT_FALSE(codes[i].name.empty());
    ASSERT_GT(codes[i].summary.size(), 10U) << codes[i].name;
    EXPECT_NE(codes[i].summary.back(), '.') << codes[i].name;
    for (size_t j = 0; j < i; ++j) EXPECT_NE(codes[i].name, codes[j].name);
  }
  EXPECT_EQ(codes.front().code, Code::BadShape);
  EXPECT_EQ(codes.front().name, "BadShape");
  EXPECT_EQ(codes.front().summary, "a tensor's shape is not a list of positive constants");
}

TEST(Render, ShowsTheUsersLine) {
  const std::string file = script();
  EXPECT_EQ(render(unknown_scope(SourceLocation::make(file, 2))),
            "error[TL2001]: unknown scope 'texure'\n"
            "  --> " +
                file +
                ":2\n"
                "   |  s.cache_read(A, 'texure')  \n"
                "  help: use 'texture'");
  EXPECT_EQ(render(unknown_scope(SourceLocation::make(file, 4))),
            "error[TL2001]: unknown scope 'texure'\n"
            "  --> " +
                file +
                ":4\n"
                "   |  last\n"
                "  help: use 'texture'");
}

TEST(Render, LeavesOutALineItCannotShow) {
  const std::string file = script();
  for (const auto& [name, line] : {std::pair(file, 3), std::pair(file, 5), std::pair(file, 0),
                                   std::pair(std::string("/no/such/file.py"), 1)}) {
    EXPECT_EQ(render(unknown_scope(SourceLocation::make(name, line))),
              "error[TL2001]: unknown scope 'texure'\n"
              "  --> " +
                  name + ":" + std::to_string(line) +
                  "\n"
                  "  help: use 'texture'");
  }
  EXPECT_EQ(render(unknown_scope({})),
            "error[TL2001]: unknown scope 'texure'\n  help: use 'texture'");
}

// A column past the end of the line, for example after a carriage return, is shown at the end.
TEST(Render, ShowsAColumnAfterTheLine) {
  const std::string line(200, 'x');
  for (const int column : {1, 150, 200, 201, 260, 100'000}) {
    Diagnostic d = unknown_scope(SourceLocation::make("t.tl", 3));
    d.location.column = column;
    d.line_text = line;
    const std::string text = render(d);
    EXPECT_NE(text.find("^\n"), std::string::npos) << column;
    EXPECT_LT(text.size(), 400U) << column;
  }
}

TEST(Render, ShowsNotesBetweenLineAndHelp) {
  Diagnostic warning = unknown_scope({}, Severity::Warning);
  warning.notes = {"in s.lower()", "called from main"};
  EXPECT_EQ(render(warning),
            "warning[TL2001]: unknown scope 'texure'\n"
            "  note: in s.lower()\n"
            "  note: called from main\n"
            "  help: use 'texture'");
}

TEST(Fail, ThrowsOneErrorWithItsText) {
  const SourceLocation where = SourceLocation::make("a.py", 3);
  try {
    fail(where, Code::BadShape, "write a number", "extent {} is {}", 1, "zero");
    FAIL() << "fail returned";
  } catch (const UserError& error) {
    ASSERT_EQ(error.diagnostics().size(), 1U);
    const Diagnostic& d = error.diagnostics().front();
    EXPECT_EQ(d.severity, Severity::Error);
    EXPECT_EQ(d.code, Code::BadShape);
    EXPECT_EQ(*d.location.file, "a.py");
    EXPECT_EQ(d.location.line, 3);
    EXPECT_EQ(d.message, "extent 1 is zero");
    EXPECT_EQ(d.help, "write a number");
    EXPECT_THAT(d.notes, testing::IsEmpty());
    EXPECT_EQ(std::string(error.what()), render(d));
  }
}

TEST(UserError, TextHoldsAllDiagnostics) {
  const UserError error({unknown_scope({}), unknown_scope({}, Severity::Warning)});
  EXPECT_STREQ(error.what(),
               "error[TL2001]: unknown scope 'texure'\n  help: use 'texture'\n"
               "warning[TL2001]: unknown scope 'texure'\n  help: use 'texture'");
  EXPECT_EQ(error.diagnostics().size(), 2U);
  EXPECT_THROW(UserError({}), InternalError);
}

TEST(DiagnosticSink, ThrowsOnlyForErrors) {
  DiagnosticSink sink;
  EXPECT_NO_THROW(sink.throw_if_errors());
  sink.report(unknown_scope(SourceLocation::make("a.py", 1), Severity::Warning));
  EXPECT_NO_THROW(sink.throw_if_errors());
  sink.report(unknown_scope(SourceLocation::make("b.py", 2)));
  ASSERT_EQ(sink.diagnostics().size(), 2U);
  EXPECT_EQ(*sink.diagnostics()[0].location.file, "a.py");
  try {
    sink.throw_if_errors();
    FAIL() << "nothing was thrown";
  } catch (const UserError& error) {
    ASSERT_EQ(error.diagnostics().size(), 2U);
    EXPECT_EQ(error.diagnostics()[0].severity, Severity::Warning);
    EXPECT_EQ(*error.diagnostics()[1].location.file, "b.py");
  }
}

TEST(SourceLocation, IsKnownWhenItHasAFile) {
  EXPECT_FALSE(SourceLocation().known());
  EXPECT_EQ(SourceLocation().line, 0);
  EXPECT_TRUE(SourceLocation::make("a.py", 1).known());
}

}  // namespace
}  // namespace texloom
