#include "bad_indices.h"

#include <pybind11/pybind11.h>

#include "arrays.h"
#include "released_lock.h"
#include "runtime/hal/transfer.h"
#include "support/diagnostic.h"

namespace texloom::python {

namespace py = pybind11;

hal::Binding no_bad_indices(hal::Device& device, const std::vector<lower::CheckedIndex>& checks) {
  const std::vector<int64_t> zeros(checks.size());
  const auto buffer = device.create_buffer({.bytes = zeros.size() * sizeof(int64_t)});
  throw_if_error(buffer.status());
  throw_if_error(hal::write_buffer(device, *buffer, 0, std::as_bytes(std::span(zeros))));
  return hal::BufferBinding{*buffer, 0};
}

void throw_if_bad(hal::Device& device, const hal::Binding& report,
                  const std::vector<lower::CheckedIndex>& checks) {
  std::vector<int64_t> bad(checks.size());
  Status status;
  {
    const ReleasedLock released;
    status = hal::read_buffer(device, std::get<hal::BufferBinding>(report).buffer, 0,
                              std::as_writable_bytes(std::span(bad)));
  }
  throw_if_error(status);
  for (size_t i = 0; i < bad.size(); ++i) {
    if (bad[i] == 0) continue;
    const lower::CheckedIndex& check = checks[i];
    fail(check.location, Code::IndexOutOfRange,
         "correct the index, or guard the access with te.if_then_else",
         "the index {} of axis {} of '{}' is outside: it has the indices 0 to {}", bad[i],
         check.axis, check.buffer, to_string(check.extent - 1));
  }
}

}  // namespace texloom::python
