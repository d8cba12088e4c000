#include "runtime/drivers/metal/commands/references.h"

#include "runtime/drivers/metal/api/objects.h"
#include "runtime/drivers/metal/memory/memory.h"

namespace texloom::hal::metal {

bool add_use(ResourceUses& uses, void* resource, Access access) {
  const auto [known, is_new] = uses.try_emplace(resource, access);
  if (is_new) return true;
  if (known->second == access || known->second == Access::ReadWrite) return false;
  known->second = Access::ReadWrite;
  return true;
}

void find_references(const KernelCall& call, std::span<const Binding> table,
                     std::vector<Reference>& to) {
  to.clear();
  auto binding = call.bindings.begin();
  for (const KernelParam& param : call.entry().params) {
    if (const auto* buffer = std::get_if<BufferParam>(&param)) {
      const BoundBuffer bound = resolve_buffer(*binding++, table);
      MetalMemory* const memory = as_metal(*bound.buffer).get();
      to.push_back({memory, buffer->access, objc(memory).gpuAddress + bound.offset});
    } else if (const auto* texture = std::get_if<TextureParam>(&param)) {
      MetalImage* const image = as_metal(*resolve_texture(*binding++, table).texture).get();
      to.push_back({image, texture->access, objc(image).gpuResourceID._impl});
    }
  }
}

}  // namespace texloom::hal::metal
