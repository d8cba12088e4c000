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

}  // namespace texloom::runtime
