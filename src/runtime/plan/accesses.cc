#include "runtime/plan/accesses.h"

#include <cstddef>
#include <variant>

#include "runtime/hal/executable.h"

namespace texloom::runtime {
namespace {

bool is_texture(const LaunchPlan& plan, TensorRef ref) {
  return std::holds_alternative<TextureStorage>(tensor_of(plan, ref).storage);
}

bool share_memory(const LaunchPlan& plan, const TensorAccess& a, const TensorAccess& b) {
  if (a.tensor == b.tensor) return true;
  if (!plan.workspace || a.tensor.kind != TensorRef::Kind::Temporary ||
      b.tensor.kind != TensorRef::Kind::Temporary)
    return false;
  const Placement& x = plan.workspace->places[a.tensor.index];
  const Placement& y = plan.workspace->places[b.tensor.index];
  if (a.whole_object || b.whole_object) return x.object == y.object;
  return places_meet(tensor_of(plan, a.tensor).storage, x, tensor_of(plan, b.tensor).storage, y);
}

}  // namespace

void add_accesses(const LaunchPlan& plan, const Step& step, std::vector<TensorAccess>& accesses) {
  if (const auto* loop = std::get_if<LoopStep>(&step)) {
    for (const Step& inner : loop->body) add_accesses(plan, inner, accesses);
  } else if (const auto* call = std::get_if<CallStep>(&step)) {
    for (std::size_t i = 0; i < call->tensors.size(); ++i)
      accesses.push_back({call->tensors[i], plan.calls[call->call].accesses[i],
                          is_texture(plan, call->tensors[i])});
  } else if (const auto* launch = std::get_if<LaunchStep>(&step)) {
    const std::vector<hal::KernelParam>& params = plan.kernels[launch->kernel].entry.params;
    for (std::size_t i = 0; i < params.size(); ++i) {
      if (!hal::is_bound(params[i])) continue;
      const auto* texture = std::get_if<hal::TextureParam>(&params[i]);
      accesses.push_back({std::get<TensorRef>(launch->operands[i]), hal::access_of(params[i]),
                          texture != nullptr && texture->min_extent == hal::Extent2D{}});
    }
  }
}

bool are_ordered(const LaunchPlan& plan, const TensorAccess& a, const TensorAccess& b) {
  return (hal::writes(a.access) || hal::writes(b.access)) && share_memory(plan, a, b);
}

}  // namespace texloom::runtime
