// The state that all objects of one open device share: Metal's device, its description, and the
// options.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/drivers/metal/api/handle.h"
#include "runtime/drivers/metal/platform/heaps.h"
#include "runtime/drivers/metal/platform/residency_set.h"
#include "runtime/hal/binary_cache.h"
#include "runtime/hal/device_info.h"
#include "runtime/hal/profile.h"
#include "runtime/hal/texture.h"

namespace texloom::hal::metal {

// Immutable but for the heaps and the residency set; kept alive by each object of the device.
class Context {
 public:
  Context(Handle<MetalDevice> device, std::shared_ptr<const DeviceInfo> info,
          std::shared_ptr<BinaryCache> binary_cache, std::shared_ptr<Profile> profile,
          std::uint64_t staging_bytes, std::uint64_t heap_bytes)
      : device_(std::move(device)),
        info_(std::move(info)),
        binary_cache_(std::move(binary_cache)),
        profile_(std::move(profile)),
        staging_bytes_(staging_bytes),
        residency_set_(device_.get(), info_->limits.global_memory_bytes),
        heaps_(device_.get(), residency_set_, heap_bytes) {}

  MetalDevice* device() const { return device_.get(); }
  const std::shared_ptr<const DeviceInfo>& info() const { return info_; }
  BinaryCache* binary_cache() const { return binary_cache_.get(); }  // null if there is none
  Profile* profile() const { return profile_.get(); }                // null if there is none
  std::uint64_t staging_bytes() const { return staging_bytes_; }     // of a staging block
  ResidencySet& residency_set() const { return residency_set_; }
  Heaps& heaps() const { return heaps_; }
  // All formats have four channels of 8, 16 or 32 bits, which every device reads and writes.
  bool supports(TexelFormat, TextureUsage) const { return true; }

 private:
  Handle<MetalDevice> device_;
  std::shared_ptr<const DeviceInfo> info_;
  std::shared_ptr<BinaryCache> binary_cache_;
  std::shared_ptr<Profile> profile_;
  std::uint64_t staging_bytes_;
  mutable ResidencySet residency_set_;
  mutable Heaps heaps_;
};

}  // namespace texloom::hal::metal
