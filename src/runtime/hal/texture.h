// A two-dimensional image of RGBA texels.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "runtime/hal/buffer.h"
#include "runtime/hal/device_info.h"
#include "runtime/hal/memory_statistics.h"
#include "runtime/hal/residency.h"
#include "runtime/hal/types.h"

namespace texloom::hal {

struct TextureDesc {
  Extent2D extent = {};
  TexelFormat format = TexelFormat::Rgba32Float;
  TextureUsage usage = TextureUsage::All;
  TextureKind kind = TextureKind::Image2D;  // others are Unimplemented
  std::uint32_t layers = 1;                 // for Image2DArray; otherwise 1
  // Other kinds are Unimplemented. Views ignore this field: they have the memory kind of their
  // buffer.
  MemoryKind memory = MemoryKind::Device;
  bool operator==(const TextureDesc&) const = default;
};

// The part of a buffer that a texture is a view over.
struct TextureBacking {
  std::shared_ptr<Buffer> buffer;  // a root (Buffer::root())
  std::uint64_t offset = 0;        // bytes; of the first texel
  std::uint64_t row_pitch = 0;     // bytes from row to row
  std::uint64_t bytes = 0;         // of whole rows, each as long as the pitch
};

// A two-dimensional image, made by Allocator. The contents are initially undefined; a view has the
// contents of its buffer. Several tensors may share one texture, each at its own origin. Ownership
// and thread safety are as for Buffer.
class Texture : public Resident {
 public:
  virtual ~Texture() = default;
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;

  const TextureDesc& desc() const { return desc_; }
  Extent2D extent() const { return desc_.extent; }
  TexelFormat format() const { return desc_.format; }
  // Identifies the memory, as Buffer::id() does; a view has a number of its own.
  std::uint64_t id() const { return id_; }
  const DeviceInfo& device_info() const { return *device_info_; }
  // Null if the texture owns its memory.
  const TextureBacking* backing() const { return backing_ ? &*backing_ : nullptr; }

 protected:
  Texture(std::shared_ptr<const DeviceInfo> device_info, const TextureDesc& desc)
      : device_info_(std::move(device_info)), desc_(desc) {}

 private:
  friend class Allocator;

  Resident& owner() final { return backing_ ? static_cast<Resident&>(*backing_->buffer) : *this; }

  std::shared_ptr<const DeviceInfo> device_info_;
  TextureDesc desc_;
  std::uint64_t id_ = 0;
  // Destroyed after the driver's part of the object.
  std::optional<TextureBacking> backing_;
  MemoryCharge charge_;
};

}  // namespace texloom::hal
