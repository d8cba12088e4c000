#include "graph/image_use.h"

#include <cstddef>

namespace texloom::graph {

ImageUse::ImageUse(const Graph& graph) : graph_(graph), is_exact_(graph.tensors.size()) {
  for (const Node& node : graph.nodes) {
    const std::vector<TensorId> tensors = tensors_of(node);
    for (const Alternative& alternative : node.alternatives) {
      if (!alternative.program) continue;
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        const auto& declaration = alternative.program->arguments[i].declaration;
        if (declaration && declaration->exact_image) is_exact_[tensors[i]] = true;
      }
    }
  }
}

SiteArgument ImageUse::argument(TensorId tensor, const Stored& stored) const {
  const bool may_share =
      graph_.tensors[tensor].role == TensorRole::Intermediate && !is_exact_[tensor];
  return {&stored, may_share && stored.is_texture()};
}

}  // namespace texloom::graph
