// The resources that a kernel reaches through its argument buffer.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/hal/binding.h"
#include "runtime/hal/segment.h"
#include "runtime/hal/types.h"

namespace texloom::hal::metal {

// A member of an argument buffer.
struct Reference {
  void* resource = nullptr;  // id<MTLResource>
  Access access = Access::Read;
  std::uint64_t address = 0;  // of a buffer, with the offset; the resource ID of a texture
};

// Resources (id<MTLResource>), and the access to each.
using ResourceUses = std::unordered_map<void*, Access>;
// Adds a use; false if it was added before.
bool add_use(ResourceUses& uses, void* resource, Access access);

// Sets `to` to the buffers and textures of a call, in the order of the kernel's parameters.
void find_references(const KernelCall& call, std::span<const Binding> table,
                     std::vector<Reference>& to);

}  // namespace texloom::hal::metal
