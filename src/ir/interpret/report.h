// The faults that the interpreter finds while it runs a program.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/source_location.h"

namespace texloom::ir {

enum class ReportKind : uint8_t {
  Race,            // two threads access one element or texel, one writes, nothing orders them
  Divergence,      // some threads of a block are at a barrier or a shuffle, others elsewhere
  OutOfBounds,     // an access outside its buffer, or a store outside its texture
  Undefined,       // an undefined value is returned to the caller, or decides a branch or an index
  ReadWriteImage,  // one kernel reads and writes one image
  DivisionByZero,  // of integers
  Padding,         // padding that readers assume to be zero is written with another value
};
// "race", "divergence", ...
std::string_view to_string(ReportKind kind);

// One thread of a launch.
struct ThreadId {
  std::array<int64_t, 3> block{0, 0, 0};
  std::array<int64_t, 3> thread{0, 0, 0};
  bool operator==(const ThreadId&) const = default;
};
// "block (0, 0, 0) thread (3, 0, 0)"
std::string to_string(const ThreadId& id);

struct Report {
  ReportKind kind = ReportKind::Race;
  std::string message;             // names the access; lower case, without a final stop
  std::string kernel;              // the kernel's name; empty outside kernels
  std::optional<ThreadId> thread;  // nothing outside kernels
  SourceLocation location;         // of the access; if unknown, of the enclosing statement
};
// "te.py:4: race in k, block (0, 0, 0) thread (1, 0, 0): ..."
std::string to_string(const Report& report);
// The text of the report without the location.
std::string report_text(const Report& report);
// "te.py:4", or "an unknown line"
std::string line_text(const SourceLocation& location);

// Collects reports: the first one for each kind and node, and no more than a given number.
class Reporter {
 public:
  explicit Reporter(size_t limit) : limit_(limit) {}

  // Whether a report of this kind about this node would be kept. If not, its text need not be made.
  bool wants(ReportKind kind, const void* node) const {
    return reports_.size() < limit_ && !seen_.contains({kind, node});
  }
  void add(Report report, const void* node);
  std::vector<Report> take() { return std::move(reports_); }

 private:
  size_t limit_;
  std::vector<Report> reports_;
  std::set<std::pair<ReportKind, const void*>> seen_;
};

}  // namespace texloom::ir
