#include "runtime/hal/internal/executables/entry_point_key.h"

#include <variant>

namespace texloom::hal {

void add_entry_points(BinaryKey& key, const std::vector<EntryPoint>& entry_points) {
  for (const EntryPoint& entry : entry_points) {
    const auto& [x, y, z] = entry.workgroup_size;
    key.add(entry.name).add(fmt::format("{} x {} x {}", x, y, z));
    for (const KernelParam& param : entry.params) {
      const auto* texture = std::get_if<TextureParam>(&param);
      const auto* buffer = std::get_if<BufferParam>(&param);
      key.add(describe(param));
      if (texture != nullptr) key.add(to_string(texture->access));
      if (buffer != nullptr) key.add(to_string(buffer->access));
    }
  }
}

}  // namespace texloom::hal
