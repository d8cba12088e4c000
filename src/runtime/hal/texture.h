// A two-dimensional image of RGBA texels.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/hal/device_info.h"
#include "runtime/hal/types.h"

namespace texloom::hal {

struct TextureDesc {
  Extent2D extent = {};
  TexelFormat format = TexelFormat::Rgba32Float;
  TextureUsage usage = TextureUsage::All;
  bool operator==(const TextureDesc&) const = default;
};

// Made by Device::create_texture; its contents are undefined at first. Several tensors may live in
// one texture, each at an origin of its own. Ownership and threads: as for Buffer.
class Texture {
 public:
  virtual ~Texture() = default;
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;

  const TextureDesc& desc() const { return desc_; }
  Extent2D extent() const { return desc_.extent; }
  TexelFormat format() const { return desc_.format; }
  const DeviceInfo& device_info() const { return *device_info_; }

 protected:
  Texture(std::shared_ptr<const DeviceInfo> device_info, const TextureDesc& desc)
      : device_info_(std::move(device_info)), desc_(desc) {}

 private:
  std::shared_ptr<const DeviceInfo> device_info_;
  TextureDesc desc_;
};

}  // namespace texloom::hal
