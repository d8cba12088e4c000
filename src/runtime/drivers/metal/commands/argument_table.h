// The state of a compute encoder: pipeline and arguments, each set only when it changes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/drivers/metal/api/handle.h"
#include "runtime/drivers/metal/api/limits.h"
#include "runtime/drivers/metal/commands/references.h"
#include "runtime/hal/types.h"

namespace texloom::hal::metal {

// Objects are compared by their addresses, so each must live as long as the encoder. Used by one
// thread at a time.
class ArgumentTable {
 public:
  // Call this for another encoder, or after other code has used this one: no state is then assumed
  // to be set.
  void begin(MetalCompute* encoder);
  // Call this after the encoder has executed indirect commands: no state is then assumed to be set,
  // but resources stay declared.
  void forget();

  void set_pipeline(MetalPipeline* pipeline);
  void set_buffer(std::uint32_t index, MetalMemory* memory, std::uint64_t offset);
  void set_bytes(std::uint32_t index, std::span<const std::byte> bytes);
  void set_texture(std::uint32_t index, MetalImage* image);
  void set_local_bytes(std::uint32_t index, std::uint64_t bytes);

  // Declares to the encoder (useResource) an id<MTLResource> that a kernel reaches by its address,
  // unless it has been declared for this access.
  void use(void* resource, Access access);

 private:
  struct BufferSlot {
    MetalMemory* memory = nullptr;  // null if the slot is unset or has bytes
    std::uint64_t offset = 0;
    std::vector<std::byte> bytes;  // keeps its capacity
  };

  MetalCompute* encoder_ = nullptr;
  MetalPipeline* pipeline_ = nullptr;
  std::array<BufferSlot, kBufferSlots> buffers_;
  std::array<MetalImage*, kMostTextureSlots> images_ = {};
  std::array<std::uint64_t, kBufferSlots> local_bytes_ = {};
  ResourceUses used_;  // resources declared for argument buffers
};

}  // namespace texloom::hal::metal
