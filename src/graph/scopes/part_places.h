// Where the parts of a concatenation lie in the memory of the whole.
#pragma once

#include <optional>
#include <vector>

#include "graph/stored.h"

namespace texloom::graph {

struct PartPlace {
  int64_t row = 0, col = 0;  // a texel of an image; in a buffer, the element `col`
};

// The places of the parts, if each is a rectangle of the whole, or a range of its buffer, and no
// two share a texel. Otherwise nullopt, for example along an axis whose pieces are interleaved in
// the layout of the whole.
std::optional<std::vector<PartPlace>> part_places(const std::vector<Stored>& parts,
                                                  const Stored& whole, std::size_t axis);

}  // namespace texloom::graph
