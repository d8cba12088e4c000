// Rules that are known elsewhere, for comparison: each image holds one live tensor.
#pragma once

#include "plan/textures/instance.h"
#include "plan/textures/packing.h"

namespace texloom::plan {

// Each tensor has an image of its own, in its smallest fold (an exact one unfolded).
Packing one_image_per_tensor(const TextureInstance& instance);

// Takes the tensors in the order of their births, unfolded where the limits allow it. Each goes to
// the idle image that must grow by the fewest texels for it, then to the one in which it leaves the
// fewest unused; it gets an image of its own if none is idle or a new one is smaller than the
// growth. Exact tensors have images that do not grow.
Packing grow_and_reuse(const TextureInstance& instance);

}  // namespace texloom::plan
