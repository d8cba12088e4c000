// Counts every call that the driver makes.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/drivers/opencl/api/api.h"
#include "tests/runtime/drivers/opencl/replaced_call_fixture.h"

namespace texloom::hal::opencl {

// The calls of each function, in the order of TL_OPENCL_FUNCTIONS.
class DriverCalls {
 public:
  // Replaces all members of the table by functions that count.
  static void count(const Api& real, Api& api) {
#define TL_OPENCL_COUNT(name) count_calls<&Api::name>(real, api);
    TL_OPENCL_FUNCTIONS(TL_OPENCL_COUNT)
#undef TL_OPENCL_COUNT
  }
  // The calls until now.
  static DriverCalls now() {
    DriverCalls calls;
#define TL_OPENCL_CALLS(name) calls.counts_.emplace_back(#name, calls_of<&Api::name>());
    TL_OPENCL_FUNCTIONS(TL_OPENCL_CALLS)
#undef TL_OPENCL_CALLS
    return calls;
  }

  DriverCalls since(const DriverCalls& start) const {
    DriverCalls calls = *this;
    for (std::size_t i = 0; i < counts_.size(); ++i) calls.counts_[i].second -= start[i];
    return calls;
  }
  // The sum over the functions whose names begin with one of `prefixes`.
  int of(const std::vector<std::string_view>& prefixes) const {
    int sum = 0;
    for (const auto& [name, count] : counts_) {
      if (std::ranges::any_of(prefixes, [&](auto prefix) { return name.starts_with(prefix); }))
        sum += count;
    }
    return sum;
  }
  int objects_made() const { return of({"clCreate"}); }
  int arguments_set() const { return of({"clSetKernelArg"}); }
  int dispatches() const { return of({"clEnqueueNDRangeKernel"}); }

  // Returns a table of the functions that any of these runs called.
  using Runs = std::vector<std::pair<std::string, DriverCalls>>;
  static std::string table(const Runs& runs) {
    std::string text = fmt::format("{:28}", "driver calls");
    for (const auto& [title, calls] : runs) text += fmt::format("{:>16}", title);
    for (std::size_t i = 0; i < runs.front().second.counts_.size(); ++i) {
      if (std::ranges::all_of(runs, [&](const auto& run) { return run.second[i] == 0; })) continue;
      text += fmt::format("\n{:28}", runs.front().second.counts_[i].first);
      for (const auto& [title, calls] : runs) text += fmt::format("{:>16}", calls[i]);
    }
    return text + "\n";
  }

 private:
  int operator[](std::size_t i) const { return counts_[i].second; }

  std::vector<std::pair<std::string_view, int>> counts_;
};

}  // namespace texloom::hal::opencl
