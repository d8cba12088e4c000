// Finds images that are not worth their memory, whose tensors should be in buffers instead.
#pragma once

#include <cstddef>
#include <set>

#include "graph/scopes/choice_problem.h"

namespace texloom::graph {

// The share of the chosen cost that may be paid to have fewer images.
inline constexpr double kImageBudget = 0.01;

// The largest number of single tensors that are tried.
inline constexpr std::size_t kTriedTensors = 16;

// Tensors that should move from textures to buffers, because the moves save texels that are worth
// more, at `ns_per_texel` each, than the moves add to the cost of the choice. Tries the tensors of
// whole images, from the smallest image to the largest, then single tensors, such as residuals, in
// descending order of their texels times their lifetime. Together the moves add at most
// kImageBudget to the cost of `choice`, which was made by `rules`. Empty if no move pays.
std::set<TensorId> tensors_out_of_images(const Graph& graph, const Offers& offers,
                                         const ChoiceRules& rules, const Choice& choice,
                                         double ns_per_texel);

}  // namespace texloom::graph
