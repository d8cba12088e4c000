// How call sites use the images of their textures. Costs and the memory plan share these rules, so
// the kernels that are costed and measured are the kernels that run.
#pragma once

#include <vector>

#include "graph/call_sites.h"
#include "graph/graph.h"
#include "graph/stored.h"

namespace texloom::graph {

class ImageUse {
 public:
  explicit ImageUse(const Graph& graph);

  // Whether an alternative of some node relies on an image of exactly the tensor's extent
  // (ir/buffer.h). If so, the tensor has an exact image for all nodes.
  bool is_exact(TensorId tensor) const { return is_exact_[tensor]; }

  // An argument of a call site. Textures of intermediate tensors may share images, unless they are
  // exact, so kernels get their origins. Textures of inputs, outputs and constants begin at the
  // corners of images, also after conversions.
  SiteArgument argument(TensorId tensor, const Stored& stored) const;

 private:
  const Graph& graph_;
  std::vector<bool> is_exact_;  // indexed by tensor
};

}  // namespace texloom::graph
