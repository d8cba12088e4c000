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
  std::uint32_t layers = 1;                 // of Image2DArray; else 1
  // Others are Unimplemented. A view is of its buffer's kind, whatever this says.
  MemoryKind memory = MemoryKind::Device;
  bool operator==(const TextureDesc&) const = default;
};

// The part of a buffer whose bytes a texture's texels are.
struct TextureBacking {
  std::shared_ptr<Buffer> buffer;  // one that has memory of its own: Buffer::root()
  std::uint64_t offset = 0;        // bytes; of the first texel
  std::uint64_t row_pitch = 0;     // bytes from row to row
  std::uint64_t bytes = 0;         // whole rows, each as long as the pitch
};

// Made by Allocator; its contents are undefined at first, or those of the buffer that it is a view
// over. Several tensors may live in one texture, each at an origin of its own. Ownership and
// threads: as for Buffer.
class Texture : public Resident {
 public:
  virtual ~Texture() = default;
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;

  const TextureDesc& desc() const { return desc_; }
  Extent2D extent() const { return desc_.extent; }
  TexelFormat format() const { return desc_.format; }
  const DeviceInfo& device_info() const { return *device_info_; }
  // Null where it has memory of its own.
  const TextureBacking* backing() const { return backing_ ? &*backing_ : nullptr; }

 protected:
  Texture(std::shared_ptr<const DeviceInfo> device_info, const TextureDesc& desc)
      : device_info_(std::move(device_info)), desc_(desc) {}

 private:
  friend class Allocator;

  Resident& owner() final { return backing_ ? static_cast<Resident&>(*backing_->buffer) : *this; }

  std::shared_ptr<const DeviceInfo> device_info_;
  TextureDesc desc_;
  // The driver's part of an object is destroyed before these are.
  std::optional<TextureBacking> backing_;
  MemoryCharge charge_;
};

}  // namespace texloom::hal
