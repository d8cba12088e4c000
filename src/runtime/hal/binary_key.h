// Names compiled programs by everything that they depend on: source, options, device, driver.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/hal/device_info.h"

namespace texloom::hal {

// A device with its driver, as DeviceInfo names them. A driver's binaries are for an equal maker.
struct BinaryMaker {
  std::string driver;  // of Texloom: "opencl"
  std::string platform;
  std::string vendor;
  std::string device;
  std::string driver_version;
  std::string api_version;
  std::string language_version;

  bool operator==(const BinaryMaker&) const = default;
};
BinaryMaker maker_of(const DeviceInfo& device);
// "Adreno (TM) 740 with version 1.2 of its driver"
std::string describe(const BinaryMaker& maker);

// 128 bits of a hash.
using BinaryDigest = std::array<std::uint64_t, 2>;
BinaryDigest digest_of(std::string_view bytes);

// Everything that a binary depends on. Two keys are equal if they have the same fields in the same
// order.
class BinaryKey {
 public:
  BinaryKey& add(std::string_view field);
  BinaryKey& add(const BinaryMaker& maker);
  // The fields with their lengths, so that different lists of fields have different texts.
  const std::string& text() const { return text_; }
  // Stands for the text where the text would take too much room.
  BinaryDigest digest() const;

 private:
  std::string text_;
};

// Where a binary that a driver gave back comes from: its maker, and the key of its program.
struct BinaryOrigin {
  BinaryMaker maker;
  BinaryDigest key = {};

  bool operator==(const BinaryOrigin&) const = default;
};

}  // namespace texloom::hal
