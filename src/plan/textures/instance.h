// The form of a problem that algorithms use: one format, indices instead of ids, and derived data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/textures/fold.h"
#include "plan/textures/problem.h"

namespace texloom::plan {

// Tensors of different formats never share an image, so each format is an instance of its own.
// Item k of an instance is item `positions[k]` of the problem.
struct TextureInstance {
  std::string format;
  std::vector<std::size_t> positions;
  std::vector<TextureItem> items;
  std::vector<bool> must_be_exact;
  std::vector<std::vector<FoldedExtent>> folds;  // a selection within the limits; never empty
  std::vector<std::int64_t> least_texels;        // the texels of the smallest fold
  std::vector<std::vector<int>> meets;           // items that are live together with this one
  std::vector<std::vector<int>> apart;           // items that never share an image with this one
  std::int64_t max_width = 0;
  std::int64_t max_height = 0;

  std::size_t size() const { return items.size(); }
};

// Splits a valid problem by format, in the order of first items. `exact[i]` says whether item i of
// the problem must have an exact image; this must include all items that cannot lose their exact
// images. If `any_order`, `apart` holds in each order of the operators, not only in the given one.
// LimitExceeded if too many tensors are live together.
Result<std::vector<TextureInstance>> make_instances(const TextureProblem& problem,
                                                    const std::vector<bool>& exact,
                                                    bool any_order = false);

}  // namespace texloom::plan
