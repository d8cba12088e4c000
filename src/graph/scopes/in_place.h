// Which tensors of a graph may be part of another, or be stored in another way than alternatives
// say.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"
#include "graph/scopes/part_places.h"
#include "graph/stored.h"

namespace texloom::graph {

// Where the parts of a concatenation lie in the whole, if its inputs, then its output, are stored
// like this; nullopt if it takes a kernel. The parts must be edges of the graph that no other
// concatenation holds, lie as part_places() says and, in buffers, begin at multiples of
// `buffer_alignment` bytes. Of textures, no node may read one of them and write another, or want
// one in an image of its own.
std::optional<std::vector<PartPlace>> places_in(const Graph& graph, const Node& concatenation,
                                                const std::vector<Stored>& stored,
                                                int64_t buffer_alignment);

// Whether a fold may be chosen for it: an edge that neither a concatenation nor a custom operator
// touches, and that no alternative wants in an image of exactly its extent.
bool may_fold(const Graph& graph, TensorId tensor);

}  // namespace texloom::graph
