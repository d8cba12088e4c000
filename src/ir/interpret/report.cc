#include "ir/interpret/report.h"

#include <fmt/format.h>

#include "support/check.h"

namespace texloom::ir {

std::string_view to_string(ReportKind kind) {
  switch (kind) {
    case ReportKind::Race:
      return "race";
    case ReportKind::Divergence:
      return "divergence";
    case ReportKind::OutOfBounds:
      return "out of bounds";
    case ReportKind::Undefined:
      return "undefined";
    case ReportKind::ReadWriteImage:
      return "image read and written";
    case ReportKind::DivisionByZero:
      return "division by zero";
    case ReportKind::Padding:
      return "padding";
  }
  TL_UNREACHABLE();
}

std::string to_string(const ThreadId& id) {
  const auto& [bx, by, bz] = id.block;
  const auto& [tx, ty, tz] = id.thread;
  return fmt::format("block ({}, {}, {}) thread ({}, {}, {})", bx, by, bz, tx, ty, tz);
}

std::string line_text(const SourceLocation& location) {
  if (!location.known()) return "an unknown line";
  return fmt::format("{}:{}", *location.file, location.line);
}

std::string report_text(const Report& report) {
  std::string where;
  if (!report.kernel.empty()) where += " in " + report.kernel;
  if (report.thread) where += ", " + to_string(*report.thread);
  return fmt::format("{}{}: {}", to_string(report.kind), where, report.message);
}

std::string to_string(const Report& report) {
  return line_text(report.location) + ": " + report_text(report);
}

void Reporter::add(Report report, const void* node) {
  if (!wants(report.kind, node)) return;
  seen_.emplace(report.kind, node);
  reports_.push_back(std::move(report));
}

}  // namespace texloom::ir
