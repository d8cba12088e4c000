// Finds arguments that share memory.
//
// Kernels are compiled with the promise (`restrict`) that nothing else refers to the memory that
// they write, and launches are ordered on that assumption. A program that overwrites an argument
// while another argument still reads the same memory computes wrong results.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "runtime/hal/binding.h"
#include "runtime/plan/plan.h"

namespace texloom::runtime {

// For each argument, whether a launch of the plan writes it. The plan must be valid.
std::vector<bool> written_arguments(const LaunchPlan& plan);

struct Alias {
  std::size_t first = 0, second = 0;  // arguments; first < second
};

// Finds two arguments that share memory, at least one of which is written; nullopt if there are
// none. A texture that is a view counts as whole rows of its buffer. The bindings must fit the
// plan's arguments.
std::optional<Alias> find_alias(const LaunchPlan& plan, const std::vector<bool>& written,
                                std::span<const hal::Binding> bindings);

}  // namespace texloom::runtime
