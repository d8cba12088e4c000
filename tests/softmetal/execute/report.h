// Reports of errors and warnings of an execution.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace softmetal {

enum class ReportKind {
  Binding,        // an argument is missing or does not fit the kernel
  Limit,          // sizes over the limits of the device
  OutOfBounds,    // an access outside of all memory that the kernel may use
  Misaligned,     // an address that is no multiple of the type's alignment
  ReadOnly,       // a write to memory that the kernel may only read
  Uninitialized,  // a read of threadgroup memory that was never written
  Race,           // conflicting accesses of two threads without a barrier between
  Barrier,        // some threads wait at another barrier, or have ended
  Simdgroup,      // some lanes wait at another call, or have ended
  Lane,           // a shuffle from a lane that does not exist
  TextureBounds,  // a texel outside of a texture; reads give 0, writes are dropped
  Texture,        // a texture of another kind, format or usage than the program's type
  Fault,          // a division by zero, an endless loop, a full stack
};

struct Report {
  ReportKind kind;
  bool is_error;  // whether the execution ended; if not, it continued as Metal specifies
  std::string text;
  std::array<uint32_t, 3> group{}, thread{};  // the position, if a thread caused the report
  int count = 1;                  // number of occurrences; only the first one is described
  const void* address = nullptr;  // an address that the kernel may not use
};

// One line per report.
std::string print_reports(const std::vector<Report>& reports);
inline bool has_errors(const std::vector<Report>& reports) {
  for (const Report& r : reports) {
    if (r.is_error) return true;
  }
  return false;
}

}  // namespace softmetal
