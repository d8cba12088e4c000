// Schedules of copies: conversions between storages, and concatenations. Copies are made when a
// graph is compiled; copies are not alternatives of nodes.
#pragma once

#include <vector>

#include "graph/stored.h"

namespace texloom::graph {

// A program at stage te that copies a tensor from one storage to the other. Its arguments are the
// source and the result.
lower::Lowering conversion(const Stored& from, const Stored& to, const Shape& shape, ir::Type type,
                           const ir::Target& target);

// A part of a concatenation.
struct StoredPart {
  Stored stored;
  Shape shape;
};

// A program at stage te that joins tensors along an axis. Its arguments are the parts and the
// whole.
lower::Lowering concatenation(const std::vector<StoredPart>& parts, const Stored& whole,
                              std::size_t axis, ir::Type type, const ir::Target& target);

}  // namespace texloom::graph
