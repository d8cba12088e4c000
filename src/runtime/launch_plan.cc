#include "runtime/launch_plan.h"

namespace texloom::runtime {

std::string describe(const TensorStorage& storage) {
  if (const auto* texture = std::get_if<TextureStorage>(&storage))
    return fmt::format("a texture {} of {}{}", hal::to_string(texture->format),
                       texture->exact_extent ? "exactly " : "", hal::to_string(texture->extent));
  return fmt::format("a buffer of {} bytes", std::get<BufferStorage>(storage).bytes);
}

std::uint64_t bytes_of(const TensorStorage& storage) {
  if (const auto* buffer = std::get_if<BufferStorage>(&storage)) return buffer->bytes;
  const auto& texture = std::get<TextureStorage>(storage);
  return hal::byte_size(texture.extent, texture.format);
}

std::string_view to_string(TensorRef::Kind kind) {
  switch (kind) {
    case TensorRef::Kind::Argument:
      return "argument";
    case TensorRef::Kind::Temporary:
      return "temporary";
    default:
      return "constant";
  }
}

const std::vector<TensorSpec>& tensors_of(const LaunchPlan& plan, TensorRef::Kind kind) {
  switch (kind) {
    case TensorRef::Kind::Argument:
      return plan.arguments;
    case TensorRef::Kind::Temporary:
      return plan.temporaries;
    default:
      return plan.constants;
  }
}

}  // namespace texloom::runtime
