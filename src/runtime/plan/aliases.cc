#include "runtime/plan/aliases.h"

#include "runtime/hal/internal/recording/hazards.h"

namespace texloom::runtime {
namespace {

bool is_written(const hal::KernelParam& param) {
  return is_bound(param) && writes(access_of(param));
}

void note_written(const LaunchPlan& plan, const std::vector<Step>& steps,
                  std::vector<bool>& written) {
  for (const Step& step : steps) {
    if (const auto* loop = std::get_if<LoopStep>(&step)) note_written(plan, loop->body, written);
    if (const auto* call = std::get_if<CallStep>(&step)) {
      const std::vector<hal::Access>& accesses = plan.calls[call->call].accesses;
      for (std::size_t i = 0; i < accesses.size(); ++i) {
        const TensorRef tensor = call->tensors[i];
        if (tensor.kind == TensorRef::Kind::Argument && writes(accesses[i]))
          written[tensor.index] = true;
      }
    }
    const auto* launch = std::get_if<LaunchStep>(&step);
    if (launch == nullptr) continue;
    const std::vector<hal::KernelParam>& params = plan.kernels[launch->kernel].entry.params;
    for (std::size_t i = 0; i < params.size(); ++i) {
      const auto* tensor = std::get_if<TensorRef>(&launch->operands[i]);
      const bool argument = tensor != nullptr && tensor->kind == TensorRef::Kind::Argument;
      if (argument && is_written(params[i])) written[tensor->index] = true;
    }
  }
}

hal::MemoryAccess memory_of(const TensorSpec& tensor, const hal::Binding& binding) {
  if (const auto* bound = std::get_if<hal::BufferBinding>(&binding))
    return hal::memory_of(hal::root({bound->buffer.get(), bound->offset}),
                          std::get<BufferStorage>(tensor.storage).bytes);
  const auto& bound = std::get<hal::TextureBinding>(binding);
  return hal::memory_of(hal::BoundTexture{bound.texture.get(), bound.origin},
                        std::get<TextureStorage>(tensor.storage).extent);
}

bool share_memory(const TensorSpec& a, const hal::Binding& at_a, const TensorSpec& b,
                  const hal::Binding& at_b) {
  const auto* x = std::get_if<hal::TextureBinding>(&at_a);
  const auto* y = std::get_if<hal::TextureBinding>(&at_b);
  // Two tensors may be side by side in the same view, so their texels are compared, not their rows.
  if (x != nullptr && y != nullptr && x->texture == y->texture)
    return hal::regions_meet(x->origin, std::get<TextureStorage>(a.storage).extent, y->origin,
                             std::get<TextureStorage>(b.storage).extent);
  return hal::share_memory(memory_of(a, at_a), memory_of(b, at_b));
}

}  // namespace

std::vector<bool> written_arguments(const LaunchPlan& plan) {
  std::vector<bool> written(plan.arguments.size(), false);
  note_written(plan, plan.steps, written);
  return written;
}

std::optional<Alias> find_alias(const LaunchPlan& plan, const std::vector<bool>& written,
                                std::span<const hal::Binding> bindings) {
  for (std::size_t second = 0; second < bindings.size(); ++second) {
    for (std::size_t first = 0; first < second; ++first) {
      if (!written[first] && !written[second]) continue;
      if (share_memory(plan.arguments[first], bindings[first], plan.arguments[second],
                       bindings[second]))
        return Alias{first, second};
    }
  }
  return {};
}

}  // namespace texloom::runtime
