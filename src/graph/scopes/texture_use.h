// The textures among the temporaries of a choice, as the planner of src/plan sees them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "graph/scopes/invocations.h"
#include "plan/textures/planner.h"

namespace texloom::graph {

class TextureUse {
 public:
  // The arguments must outlive this object.
  TextureUse(const Graph& graph, const Offers& offers, const Invocations& invocations);

  // The textures, with their positions among the items of plans.
  const std::map<StoredTensor, int64_t>& ids() const { return ids_; }

  // The texture at a position among the items: when it is live, and its extent.
  const plan::TextureItem& item(int64_t id) const {
    return problem_.items[static_cast<std::size_t>(id)];
  }

  // The plan if only these tensors may be folded; nullopt if there are too many tensors to plan.
  std::optional<plan::TexturePlan> plan(const std::set<TensorId>& foldable) const;

 private:
  bool is_temporary_texture(const StoredTensor& tensor) const;
  void use(const StoredTensor& used, int64_t time);
  void keep_apart(const Invocation& invocation);
  std::optional<int64_t> find(const StoredTensor& tensor) const;

  const Graph& graph_;
  const Offers& offers_;
  const Invocations& invocations_;
  std::map<StoredTensor, int64_t> ids_;  // an item's id is its position
  plan::TextureProblem problem_;
};

}  // namespace texloom::graph
