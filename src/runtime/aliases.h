// Finds arguments that share memory.
//
// Kernels are compiled with the promise that nothing else refers to the memory they write
// (`restrict`), and launches are ordered accordingly: a program whose argument is overwritten while
// it is still read computes something else.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "runtime/hal/binding.h"
#include "runtime/launch_plan.h"

namespace texloom::runtime {

// By argument: whether a launch of the plan writes it. The plan is valid.
std::vector<bool> written_arguments(const LaunchPlan& plan);

struct Alias {
  std::size_t first = 0, second = 0;  // arguments; first < second
};

// Two arguments that share memory, at least one of which is written; nothing if there are none. A
// texture that is a view is memory of its buffer, whole rows of it. The bindings fit the plan's
// arguments.
std::optional<Alias> find_alias(const LaunchPlan& plan, const std::vector<bool>& written,
                                std::span<const hal::Binding> bindings);

}  // namespace texloom::runtime
