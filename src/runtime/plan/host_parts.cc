#include "runtime/plan/host_parts.h"

#include <algorithm>

namespace texloom::runtime {

bool has_host_parts(const LaunchPlan& plan) {
  return std::ranges::any_of(plan.calls, is_host_part);
}

}  // namespace texloom::runtime
