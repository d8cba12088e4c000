#include "runtime/aliases.h"

namespace texloom::runtime {
namespace {

bool is_written(const hal::KernelParam& param) {
  return is_bound(param) && writes(access_of(param));
}

void note_written(const LaunchPlan& plan, const std::vector<Step>& steps,
                  std::vector<bool>& written) {
  for (const Step& step : steps) {
    if (const auto* loop = std::get_if<LoopStep>(&step)) note_written(plan, loop->body, written);
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

bool share_memory(const TensorSpec& a, const hal::Binding& at_a, const TensorSpec& b,
                  const hal::Binding& at_b) {
  if (at_a.index() != at_b.index()) return false;
  if (const auto* x = std::get_if<hal::BufferBinding>(&at_a)) {
    const auto& y = std::get<hal::BufferBinding>(at_b);
    return &x->buffer->root() == &y.buffer->root() &&
           hal::ranges_meet(
               x->buffer->base_offset() + x->offset, std::get<BufferStorage>(a.storage).bytes,
               y.buffer->base_offset() + y.offset, std::get<BufferStorage>(b.storage).bytes);
  }
  const auto& x = std::get<hal::TextureBinding>(at_a);
  const auto& y = std::get<hal::TextureBinding>(at_b);
  return x.texture == y.texture &&
         hal::regions_meet(x.origin, std::get<TextureStorage>(a.storage).extent, y.origin,
                           std::get<TextureStorage>(b.storage).extent);
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
