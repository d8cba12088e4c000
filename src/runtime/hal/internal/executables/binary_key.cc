#include "runtime/hal/binary_key.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace texloom::hal {

BinaryMaker maker_of(const DeviceInfo& device) {
  return {.driver = device.driver,
          .platform = device.platform,
          .vendor = device.vendor,
          .device = device.name,
          .driver_version = device.driver_version,
          .api_version = device.api_version,
          .language_version = device.language_version};
}

BinaryDigest digest_of(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

std::string describe(const BinaryMaker& maker) {
  return fmt::format("{} with version {} of its driver", maker.device, maker.driver_version);
}

BinaryKey& BinaryKey::add(std::string_view field) {
  text_ += fmt::format("{}:", field.size());
  text_ += field;
  return *this;
}

BinaryKey& BinaryKey::add(const BinaryMaker& maker) {
  add(maker.driver).add(maker.platform).add(maker.vendor).add(maker.device);
  return add(maker.driver_version).add(maker.api_version).add(maker.language_version);
}

BinaryDigest BinaryKey::digest() const { return digest_of(text_); }

}  // namespace texloom::hal
