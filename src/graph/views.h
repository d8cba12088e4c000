// Views: operators whose output has the elements of their input, in the same order.
#pragma once

#include "graph/graph.h"

namespace texloom::graph {

// Whether the output of a view may share the memory of its input, as a row-major buffer, without a
// kernel. Input and output must be temporaries of the graph whose places no concatenation
// determines.
bool may_share_memory(const Graph& graph, const Node& view);

// Whether an operator moves the channels of images to the end or back, and the image is next to a
// convolution. Where convolutions have channels last, the operator needs no kernel.
bool moves_channels_of_convolution(const Graph& graph, const Node& node);

}  // namespace texloom::graph
