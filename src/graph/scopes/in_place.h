// Tells which tensors of a graph may be a part of another tensor, or may be folded although no
// alternative asks for a fold.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"
#include "graph/scopes/part_places.h"
#include "graph/stored.h"

namespace texloom::graph {

// The places of the parts of a concatenation in the whole, for these storages of its inputs and its
// output; nullopt if the concatenation needs a kernel. The parts must be intermediate tensors that
// belong to no other concatenation, have places by part_places() and, in buffers, begin at
// multiples of `buffer_alignment` bytes. For textures, no node may read one part and write another,
// or need a part in an image of its own.
std::optional<std::vector<PartPlace>> places_in(const Graph& graph, const Node& concatenation,
                                                const std::vector<Stored>& stored,
                                                int64_t buffer_alignment);

// Whether a fold may be chosen for the tensor: it must be an intermediate tensor that no
// concatenation and no custom operator touches, and no alternative may need it in an image of
// exactly its extent.
bool may_fold(const Graph& graph, TensorId tensor);

}  // namespace texloom::graph
