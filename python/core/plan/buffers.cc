// Binds the planning of buffers in one arena.

#include <pybind11/stl.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "core/handles.h"
#include "core/runtime/open_devices.h"
#include "core/runtime/released_lock.h"
#include "plan/buffers/offsets.h"

namespace texloom::python {

namespace {

// (first, last, size, alignment); see plan::BufferItem.
using ItemTuple = std::tuple<int64_t, int64_t, int64_t, int64_t>;

plan::Effort effort_of(std::optional<int64_t> steps, std::optional<double> time_limit,
                       bool& interrupted) {
  plan::Effort effort;
  if (steps.has_value()) effort.steps = *steps;
  if (time_limit.has_value()) {
    // A time that may exceed the range of nanoseconds counts as no limit.
    constexpr double kLongest = 1e9;
    if (*time_limit < kLongest) {
      effort.time_limit = std::chrono::duration_cast<std::chrono::nanoseconds>(
          std::chrono::duration<double>(*time_limit));
    } else {
      effort.time_limit = std::chrono::nanoseconds::max();
    }
  }
  effort.canceled = [&interrupted] {
    const py::gil_scoped_acquire lock;
    interrupted = PyErr_CheckSignals() != 0;
    return interrupted;
  };
  return effort;
}

Result<plan::OffsetPlan> plan_items(const std::vector<plan::BufferItem>& items,
                                    std::optional<int64_t> capacity, const plan::Effort& effort) {
  const ReleasedLock released;
  return capacity.has_value() ? plan::fit_offsets(items, *capacity, effort)
                              : plan::minimize_offsets(items, effort);
}

py::dict plan_buffers(const std::vector<ItemTuple>& rows, std::optional<int64_t> capacity,
                      std::optional<int64_t> steps, std::optional<double> time_limit) {
  std::vector<plan::BufferItem> items;
  items.reserve(rows.size());
  for (const auto& [first, last, size, alignment] : rows) {
    items.push_back({{first, last}, size, alignment});
  }
  bool interrupted = false;
  const Result<plan::OffsetPlan> result =
      plan_items(items, capacity, effort_of(steps, time_limit, interrupted));
  if (interrupted) throw py::error_already_set();
  if (!result.ok()) throw py::value_error(in_lines(result.status()));
  py::dict plan;
  plan["offsets"] = result->offsets;
  plan["bytes"] = result->bytes;
  plan["lower_bound"] = result->lower_bound;
  plan["exhaustive"] = result->proof == plan::OffsetProof::Exhaustive;
  plan["steps"] = result->steps;
  plan["deterministic"] = result->deterministic;
  return plan;
}

}  // namespace

void bind_buffer_planning(py::module_& m) {
  m.def("plan_buffers", &plan_buffers, py::arg("items"), py::kw_only(),
        py::arg("capacity") = py::none(), py::arg("steps") = py::none(),
        py::arg("time_limit") = py::none(),
        "Offsets of items (first, last, size, alignment) in one arena: a plan within the capacity, "
        "or without one the smallest. Raises ValueError for wrong items.");
}

}  // namespace texloom::python
