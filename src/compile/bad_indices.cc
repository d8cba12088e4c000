#include "compile/bad_indices.h"

#include "runtime/hal/transfer.h"
#include "support/diagnostic.h"

namespace texloom::compile {

Result<hal::Binding> make_index_report(hal::Device& device,
                                       std::span<const lower::CheckedIndex> checks) {
  const std::vector<int64_t> zeros(checks.size());
  TL_ASSIGN_OR_RETURN(const auto buffer,
                      device.create_buffer({.bytes = zeros.size() * sizeof(int64_t)}));
  TL_RETURN_IF_ERROR(hal::write_buffer(device, buffer, 0, std::as_bytes(std::span(zeros))));
  return hal::Binding(hal::BufferBinding{buffer, 0});
}

Result<std::vector<int64_t>> read_index_report(hal::Device& device, const hal::Binding& report,
                                               std::span<const lower::CheckedIndex> checks) {
  std::vector<int64_t> bad(checks.size());
  TL_RETURN_IF_ERROR(hal::read_buffer(device, std::get<hal::BufferBinding>(report).buffer, 0,
                                      std::as_writable_bytes(std::span(bad))));
  return bad;
}

void fail_if_bad(std::span<const int64_t> report, std::span<const lower::CheckedIndex> checks) {
  for (size_t i = 0; i < report.size(); ++i) {
    if (report[i] == 0) continue;
    const lower::CheckedIndex& check = checks[i];
    fail(check.location, Code::IndexOutOfRange,
         "correct the index, or guard the access with te.if_then_else",
         "index {} is out of bounds for axis {} of '{}' (0 to {})", report[i], check.axis,
         check.buffer, to_string(check.extent - 1));
  }
}

}  // namespace texloom::compile
