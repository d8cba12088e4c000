#include "runtime/launch_plan.h"

namespace texloom::runtime {

std::string describe(const TensorStorage& storage) {
  if (const auto* texture = std::get_if<TextureStorage>(&storage))
    return fmt::format("a texture {} of {}{}", hal::to_string(texture->format),
                       texture->exact_extent ? "exactly " : "", hal::to_string(texture->extent));
  return fmt::format("a buffer of {} bytes", std::get<BufferStorage>(storage).bytes);
}

}  // namespace texloom::runtime
