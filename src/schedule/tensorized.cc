#include "schedule/tensorized.h"

#include <algorithm>

namespace texloom::schedule {

bool is_tensorized(const Stage& stage) {
  return std::any_of(stage.attributes.begin(), stage.attributes.end(),
                     [](const auto& loop) { return static_cast<bool>(loop.second.intrinsic); });
}

}  // namespace texloom::schedule
