#include "apps/texloom-opt/findings.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace texloom::opt {
namespace {

constexpr std::string_view kStart = "expected-";

struct Expectation {
  std::string kind, part;
  int line = 0;  // where the finding is expected
  bool met = false;
};

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Returns `rest` up to `end`, and removes both from `rest`.
std::optional<std::string_view> take_until(std::string_view& rest, std::string_view end) {
  const size_t at = rest.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view taken = rest.substr(0, at);
  rest.remove_prefix(at + end.size());
  return taken;
}

// Parses an expectation such as "error@+1 {{part}}" at the start of `rest`, and removes it.
std::optional<Expectation> take_expectation(std::string_view& rest, int line) {
  std::optional<std::string_view> head = take_until(rest, "{{");
  const std::optional<std::string_view> part = head ? take_until(rest, "}}") : std::nullopt;
  if (!part || part->empty()) return std::nullopt;
  while (head->ends_with(' ')) head->remove_suffix(1);
  const std::string_view kind = head->substr(0, head->find('@'));
  if (kind != "error" && kind != "warning" && kind != "report") return std::nullopt;
  Expectation e{std::string(kind), std::string(*part), line};
  if (kind.size() == head->size()) return e;
  const std::string_view sign = head->substr(kind.size() + 1, 1);
  const std::string_view digits = head->substr(std::min(kind.size() + 2, head->size()));
  int offset = 0;
  const auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), offset);
  const bool whole = error == std::errc() && last == digits.data() + digits.size();
  if (!whole || offset < 0 || (sign != "+" && sign != "-")) return std::nullopt;
  e.line += sign == "+" ? offset : -offset;
  return e;
}

// Reads the expectations in the comment of one line. Reports text that begins like an expectation
// but is not one.
void read_line(std::string_view text, int line, std::string_view file,
               std::vector<Expectation>& expected, std::vector<std::string>& problems) {
  std::string_view rest = text;
  if (!take_until(rest, "//")) return;
  while (take_until(rest, kStart)) {
    std::optional<Expectation> e = take_expectation(rest, line);
    if (!e) {
      problems.push_back(
          fmt::format("{}:{}: 'expected-' does not begin an expectation", file, line));
      return;
    }
    expected.push_back(*std::move(e));
  }
}

bool is_met(const Expectation& e, const Finding& f, std::string_view file) {
  return !e.met && f.location.known() && *f.location.file == file && f.location.line == e.line &&
         f.kind == e.kind && f.text.find(e.part) != std::string::npos;
}

}  // namespace

Finding finding_of(const Diagnostic& d) {
  return {d.severity == Severity::Error ? "error" : "warning", d.location,
          fmt::format("{}: {}", code_text(d.code), d.message), render(d)};
}

Finding finding_of(const ir::Report& report, std::string_view text, std::string_view file) {
  Finding f{"report", report.location, report_text(report), {}};
  f.rendered = fmt::format("{}\n  --> {}", f.text, ir::line_text(report.location));
  if (!report.location.known() || *report.location.file != file) return f;
  const std::vector<std::string_view> lines = lines_of(text);
  const auto number = static_cast<size_t>(report.location.line) - 1;
  if (number >= lines.size()) return f;
  const std::string_view line = lines[number];
  f.rendered +=
      fmt::format("\n   |  {}", line.substr(std::min(line.find_first_not_of(" \t"), line.size())));
  return f;
}

std::vector<std::string> unexpected(const std::vector<Finding>& findings, std::string_view text,
                                    std::string_view file) {
  std::vector<Expectation> expected;
  std::vector<std::string> problems;
  int number = 0;
  for (const std::string_view line : lines_of(text)) {
    read_line(line, ++number, file, expected, problems);
  }
  for (const Finding& f : findings) {
    const auto e = std::find_if(expected.begin(), expected.end(),
                                [&](const Expectation& each) { return is_met(each, f, file); });
    if (e != expected.end()) {
      e->met = true;
    } else {
      problems.push_back(
          fmt::format("{}: unexpected {}: {}", ir::line_text(f.location), f.kind, f.text));
    }
  }
  for (const Expectation& e : expected) {
    if (e.met) continue;
    problems.push_back(fmt::format("{}:{}: no {} contains '{}'", file, e.line, e.kind, e.part));
  }
  return problems;
}

}  // namespace texloom::opt
