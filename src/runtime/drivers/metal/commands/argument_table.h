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
  // For another encoder, or after a stranger has used this one: nothing is known to be set.
  void begin(MetalCompute* encoder);
  // After the encoder has executed indirect commands: nothing is known to be set, but resources
  // remain named.
  void forget();

  void set_pipeline(MetalPipeline* pipeline);
  void set_buffer(std::uint32_t index, MetalMemory* memory, std::uint64_t offset);
  void set_bytes(std::uint32_t index, std::span<const std::byte> bytes);
  void set_texture(std::uint32_t index, MetalImage* image);
  void set_local_bytes(std::uint32_t index, std::uint64_t bytes);

  // Names an id<MTLResource> that is reached by its address to the encoder, unless it has been
  // named for this access.
  void use(void* resource, Access access);

 private:
  struct BufferSlot {
    MetalMemory* memory = nullptr;  // null for none, and for bytes
    std::uint64_t offset = 0;
    std::vector<std::byte> bytes;  // keeps its capacity
  };

  MetalCompute* encoder_ = nullptr;
  MetalPipeline* pipeline_ = nullptr;
  std::array<BufferSlot, kBufferSlots> buffers_;
  std::array<MetalImage*, kMostTextureSlots> images_ = {};
  std::array<std::uint64_t, kBufferSlots> local_bytes_ = {};
  ResourceUses used_;  // by argument buffers
};

}  // namespace texloom::hal::metal
