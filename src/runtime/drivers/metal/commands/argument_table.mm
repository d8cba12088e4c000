#include "runtime/drivers/metal/commands/argument_table.h"

#include <algorithm>

#include "runtime/drivers/metal/api/objects.h"

namespace texloom::hal::metal {

void ArgumentTable::begin(MetalCompute* encoder) {
  encoder_ = encoder;
  used_.clear();
  forget();
}

void ArgumentTable::forget() {
  pipeline_ = nullptr;
  for (BufferSlot& slot : buffers_) {
    slot.memory = nullptr;
    slot.bytes.clear();
  }
  images_.fill(nullptr);
  local_bytes_.fill(0);
}

void ArgumentTable::set_pipeline(MetalPipeline* pipeline) {
  if (pipeline_ == pipeline) return;
  pipeline_ = pipeline;
  [objc(encoder_) setComputePipelineState:objc(pipeline)];
}

void ArgumentTable::set_buffer(std::uint32_t index, MetalMemory* memory, std::uint64_t offset) {
  BufferSlot& slot = buffers_[index];
  if (slot.memory == memory && slot.offset == offset) return;
  if (slot.memory == memory)
    [objc(encoder_) setBufferOffset:offset atIndex:index];
  else
    [objc(encoder_) setBuffer:objc(memory) offset:offset atIndex:index];
  slot.memory = memory;
  slot.offset = offset;
  slot.bytes.clear();
}

void ArgumentTable::set_bytes(std::uint32_t index, std::span<const std::byte> bytes) {
  BufferSlot& slot = buffers_[index];
  if (std::equal(bytes.begin(), bytes.end(), slot.bytes.begin(), slot.bytes.end())) return;
  [objc(encoder_) setBytes:bytes.data() length:bytes.size() atIndex:index];
  slot.memory = nullptr;
  slot.bytes.assign(bytes.begin(), bytes.end());
}

void ArgumentTable::set_texture(std::uint32_t index, MetalImage* image) {
  if (images_[index] == image) return;
  images_[index] = image;
  [objc(encoder_) setTexture:objc(image) atIndex:index];
}

void ArgumentTable::set_local_bytes(std::uint32_t index, std::uint64_t bytes) {
  if (local_bytes_[index] == bytes) return;
  local_bytes_[index] = bytes;
  [objc(encoder_) setThreadgroupMemoryLength:bytes atIndex:index];
}

// A resource stays declared until the encoder ends.
void ArgumentTable::use(void* resource, Access access) {
  if (!add_use(used_, resource, access)) return;
  const Access all = used_[resource];
  MTLResourceUsage usage = 0;
  if (reads(all)) usage |= MTLResourceUsageRead;
  if (writes(all)) usage |= MTLResourceUsageWrite;
  [objc(encoder_) useResource:(id<MTLResource>)resource usage:usage];
}

}  // namespace texloom::hal::metal
