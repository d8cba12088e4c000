// Images that are not worth their memory: what they hold is put into buffers instead.
#pragma once

#include <cstddef>
#include <set>

#include "graph/scopes/choice_problem.h"

namespace texloom::graph {

// The share of the chosen cost that may be paid to have fewer images.
inline constexpr double kImageBudget = 0.01;

// The single tensors that are tried.
inline constexpr std::size_t kTriedTensors = 16;

// Tensors that a choice better keeps out of textures: without them the plan of the images has fewer
// texels, and each texel that is saved is worth `ns_per_texel`. They are those of whole images,
// tried from the smallest image to the largest, and single ones, such as residuals, tried from
// those that hold most texels for longest. Together they add at most kImageBudget to the cost of
// `choice`, which was made by `rules`. Empty if no image is worth that.
std::set<TensorId> tensors_out_of_images(const Graph& graph, const Offers& offers,
                                         const ChoiceRules& rules, const Choice& choice,
                                         double ns_per_texel);

}  // namespace texloom::graph
