// Problems for tests, in few words.
#pragma once

#include <cstdint>
#include <string>

#include "plan/textures/problem.h"

namespace texloom::plan {

// An item of height by width texels in slices, live from first to last.
inline TextureItem item(std::int64_t id, std::int64_t first, std::int64_t last, std::int64_t height,
                        std::int64_t width, std::int64_t slices) {
  TextureItem result;
  result.id = id;
  result.lifetime = {first, last};
  result.height = height;
  result.width = width;
  result.slices = slices;
  return result;
}

// A chain of `count` operators: item k is written by operator k and read by operator k + 1.
inline TextureProblem chain(std::int64_t count, std::int64_t height, std::int64_t width,
                            std::int64_t slices) {
  TextureProblem problem;
  for (std::int64_t k = 0; k < count; ++k) {
    problem.items.push_back(item(k, k, k + 1, height, width, slices));
    if (k > 0) problem.read_write.emplace_back(k - 1, k);
  }
  return problem;
}

// A chain of 10, 1, 1 and 10 texels. At most 11 are live together, but every plan takes 12: if the
// two large items share an image, the two small ones need an image each; otherwise the large ones
// alone take 20.
inline TextureProblem bottleneck() {
  TextureProblem problem = chain(4, 1, 1, 1);
  problem.items[0].width = 10;
  problem.items[3].width = 10;
  return problem;
}

}  // namespace texloom::plan
