// Packs tensors into images, one by one: each at the place where images grow least.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "plan/textures/instance.h"

namespace texloom::plan {

// Where one item lies, as in TexturePlacement.
struct PackedItem {
  int image = -1;
  std::int64_t x = 0;
  std::int64_t y = 0;
  FoldedExtent extent;
};

struct PackedImage {
  std::int64_t width = 0;
  std::int64_t height = 0;  // the number of rows up to the last one that an item uses
  // The height of an image that may not grow; 0 if the image may grow.
  std::int64_t fixed_height = 0;

  std::int64_t texels() const { return width * (fixed_height > 0 ? fixed_height : height); }
};

struct Packing {
  std::vector<PackedImage> images;  // some may be empty
  std::vector<PackedItem> items;    // in the order of the instance
  std::int64_t texels = 0;
};

// The decisions of a packing. All places follow from them.
struct PackingRecipe {
  std::vector<int> order;            // items in order; exact items are placed first in any case
  std::vector<std::int64_t> widths;  // widths of the initial images; more are added if needed
  std::vector<int> image;            // for each item, the index of its image, or -1: any
  // Whether an item may get a new image if an old image would grow by more texels. If not, it gets
  // a new image only if no old image has a place for it.
  bool adds_images = false;
};

class Packer {
 public:
  // The instance must outlive the packer.
  explicit Packer(const TextureInstance& instance);

  // A step examines one rectangle. When `steps_per_item` are used up, an item takes the best place
  // found so far. A packing that reaches `too_many` texels is abandoned, and its texels are set to
  // this number.
  Packing pack(const PackingRecipe& recipe, std::int64_t steps_per_item, std::int64_t too_many);

  std::int64_t steps() const { return steps_; }  // the sum over all calls

 private:
  // A place for an item, and the cost of the place.
  struct Choice {
    PackedItem place;
    std::int64_t growth = 0;  // texels
    std::int64_t waste = 0;   // texels of the rectangle that hold nothing
    std::int64_t top = 0;
    bool operator<(const Choice& other) const;
  };

  // A placed item; sorted in the order in which the packer examines items.
  struct Near {
    int image = 0;
    std::int64_t y = 0;
    int item = 0;
    auto operator<=>(const Near&) const = default;
  };

  void place_exact(int item);
  void look_around(int item);
  void place(int item, int wanted, bool adds_images);
  void try_image(int item, int image, std::int64_t budget, Choice& best);
  void try_column(int item, int image, const FoldedExtent& extent, std::int64_t x, Choice& best);
  void try_new_image(int item, Choice& best);
  void put(int item, const Choice& choice);
  bool may_share(int item, int image) const;

  const TextureInstance& instance_;
  Packing packing_;
  std::vector<Near> near_;      // placed items that are live together with the current item
  std::vector<bool> banned_;    // images that the current item may not share
  std::vector<int> neighbors_;  // the items of near_ in the current image, by rising y
  std::vector<std::int64_t> columns_;
  std::int64_t budget_ = 0;  // steps for each item
  std::int64_t steps_ = 0;
};

}  // namespace texloom::plan
