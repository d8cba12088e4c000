// Places textures of given extents, quickly: for plans that are made at run time, when kernels are
// compiled already and no tensor can be folded any more.
//
//   const std::vector<Rectangle> items = {{.lifetime = {0, 1}, .width = 32, .height = 8}, …};
//   TL_ASSIGN_OR_RETURN(const RectanglePlan plan, place_rectangles(items, {}, limits, {}));
//
// Functions keep no state between calls and may be called by several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/buffers/effort.h"
#include "plan/buffers/item.h"
#include "plan/lifetime.h"
#include "support/status.h"

namespace texloom::plan {

// A tensor in a texture; extents are in texels. Items are known by their index in the list that is
// planned. All items of one list have the same texel format.
struct Rectangle {
  Lifetime lifetime = {};
  std::int64_t width = 1;
  std::int64_t height = 1;
  // The tensor begins at texel (0, 0) of its image, since some kernel assumes this.
  bool at_origin = false;
  // The tensor's image has exactly its extent, and holds no other tensor while this one is live.
  bool exact = false;
};

// Limits of images that several items share. An item that exceeds a limit by itself gets its own
// image, which the allocator will refuse.
struct RectangleLimits {
  std::int64_t max_width = kNone;  // texels
  std::int64_t max_height = kNone;
  std::int64_t max_texels = kNone;

  static constexpr std::int64_t kNone = std::int64_t{1} << 48;
};

struct RectangleImage {
  std::int64_t width = 0;  // texels
  std::int64_t height = 0;
  bool exact = false;  // some item requires exactly this extent

  std::int64_t texels() const { return width * height; }
};

struct RectanglePlace {
  std::size_t image = 0;  // an index into the plan's images
  std::int64_t x = 0;     // the first texel
  std::int64_t y = 0;
};

struct RectanglePlan {
  std::vector<RectangleImage> images;
  std::vector<RectanglePlace> places;  // one for each item
  std::int64_t texels = 0;             // the sum over all images
  std::int64_t steps = 0;              // the steps that were spent
};

// Puts items into images one by one, in several orders, each where its image grows least, and then
// improves the best order as long as steps are left. Separated items never share an image. A step
// compares two items. With any effort, the plan of a list without exact items takes no more texels
// than the rule of runtime/hal/internal/memory/reuse.h; this costs a step for each pair of items of
// which one may be live when the other begins.
//
// InvalidArgument for a lifetime that is reversed or begins before 0, an extent below 1 or of more
// than RectangleLimits::kNone texels, and for what check_separations() refuses; LimitExceeded for
// more than kMaxItems items.
Result<RectanglePlan> place_rectangles(std::span<const Rectangle> items,
                                       std::span<const Separation> separations,
                                       const RectangleLimits& limits, const Effort& effort);

}  // namespace texloom::plan
