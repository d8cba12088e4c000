// Rules that other planners use, for comparison: each image holds one live tensor.
#pragma once

#include "plan/textures/instance.h"
#include "plan/textures/packing.h"

namespace texloom::plan {

// Each tensor has an image of its own, in its smallest fold (exact tensors unfolded).
Packing one_image_per_tensor(const TextureInstance& instance);

// Places the tensors in the order of their first operators, unfolded where the limits allow it.
// Each tensor goes to the idle image that must grow by the fewest texels; among equals, to the
// image in which it leaves the fewest texels unused. A tensor gets a new image if no image is idle,
// or if a new image is smaller than the growth. Images of exact tensors do not grow.
Packing grow_and_reuse(const TextureInstance& instance);

}  // namespace texloom::plan
