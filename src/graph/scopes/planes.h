// Folds of layouts as the planner of textures makes them.
#pragma once

#include <optional>

#include "ir/layout/layout.h"

namespace texloom::graph {

// A layout's texels as `slices` planes, which src/plan folds (plan/textures/problem.h).
struct Planes {
  int64_t width = 1, height = 1, slices = 1;
};
Planes planes_of(const ir::Layout& layout);

// The layout of a texture with `fold` planes side by side. nullopt if the rows cannot be cut so: if
// a plane's number has several digits, only the innermost digit can be cut.
std::optional<ir::Layout> folded(const ir::Layout& layout, int64_t fold);

}  // namespace texloom::graph
