// Images that are not worth their memory: their tensors go into buffers instead.
#pragma once

#include <cstddef>
#include <set>

#include "graph/scopes/choice_problem.h"

namespace texloom::graph {

// The share of the chosen cost that may be paid to have fewer images.
inline constexpr double kImageBudget = 0.01;

// The most single tensors that are tried.
inline constexpr std::size_t kTriedTensors = 16;

// Tensors that should leave textures, because the texels that the plan of the images then saves are
// worth more, at `ns_per_texel` each, than the choice loses. Tried are the tensors of whole images,
// from the smallest image to the largest, and single tensors, such as residuals, in descending
// order of their texels times their lifetime. Together they add at most kImageBudget to the cost of
// `choice`, which was made by `rules`. Empty if no image is worth that.
std::set<TensorId> tensors_out_of_images(const Graph& graph, const Offers& offers,
                                         const ChoiceRules& rules, const Choice& choice,
                                         double ns_per_texel);

}  // namespace texloom::graph
