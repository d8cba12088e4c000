// Folds of layouts as the planner of textures makes them.
#pragma once

#include <optional>

#include "ir/layout/layout.h"

namespace texloom::graph {

// How a layout's texels are planes, as src/plan folds them (plan/textures/problem.h).
struct Planes {
  int64_t width = 1, height = 1, slices = 1;
};
Planes planes_of(const ir::Layout& layout);

// The layout of a texture with `fold` planes side by side. nullopt if its rows cannot be cut like
// this: if a plane's number has several digits, only the innermost one can be cut.
std::optional<ir::Layout> folded(const ir::Layout& layout, int64_t fold);

}  // namespace texloom::graph
