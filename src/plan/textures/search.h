// Looks for a plan with few texels: packs again and again with changed orders, widths and images.
#pragma once

#include <cstdint>
#include <functional>

#include "plan/textures/packing.h"

namespace texloom::plan {

struct SearchLimits {
  std::int64_t goal = 0;                // a packing with at most this many texels ends the search
  std::int64_t steps = 0;               // the packer's steps
  std::function<bool()> is_over_early;  // called now and then; empty: is never called
};

// The best packing found. At least one packing is made, even with no steps. Deterministic, unless
// `is_over_early` ends the search.
Packing search(const TextureInstance& instance, const SearchLimits& limits);

}  // namespace texloom::plan
