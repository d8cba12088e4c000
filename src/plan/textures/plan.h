// Where each tensor lies: images, and a rectangle of one image for each tensor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/textures/problem.h"

namespace texloom::plan {

struct TextureImage {
  std::int64_t width = 0;  // texels
  std::int64_t height = 0;
  std::string format;

  std::int64_t texels() const { return width * height; }
  bool operator==(const TextureImage&) const = default;
};

// The texels [x, x + width) by [y, y + height) of an image. `width` and `height` are the extents of
// the folded tensor.
struct TexturePlacement {
  std::int64_t id = 0;
  std::int64_t image = 0;  // index into the plan's images
  std::int64_t x = 0;
  std::int64_t y = 0;
  std::int64_t fold = 1;
  std::int64_t width = 0;
  std::int64_t height = 0;

  bool operator==(const TexturePlacement&) const = default;
};

struct TexturePlan {
  std::vector<TextureImage> images;
  std::vector<TexturePlacement> placements;  // one for each item, in the order of the items

  // The sum over all images.
  std::int64_t texels() const;
  bool operator==(const TexturePlan&) const = default;
};

// Whether the placement covers a whole image, unfolded, as an exact tensor needs it.
bool is_exact(const TexturePlan& plan, const TexturePlacement& placement);

// Ok if the plan is valid for this problem:
//  * it places each item once, in a fold of the item that lies inside an image of the item's format
//    and of the allowed size;
//  * no two rectangles of one image overlap while both are live;
//  * the items of a read_write pair lie in different images;
//  * exact items that have no cost have an exact image.
Status verify(const TextureProblem& problem, const TexturePlan& plan);

}  // namespace texloom::plan
