// The needs of a variant of a package: features and limits that a device must have, by name.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/hal/device_info.h"

namespace texloom::runtime {

namespace need {
// Names for which every device has a value; the value of a feature is 1. All other names are those
// of DeviceInfo::extensions.
inline constexpr std::string_view kImages = "images";
inline constexpr std::string_view kFloat64 = "float64";
inline constexpr std::string_view kFloat16Arithmetic = "float16_arithmetic";
inline constexpr std::string_view kMaxImageWidth = "max_image_width";         // texels
inline constexpr std::string_view kMaxImageHeight = "max_image_height";       // texels
inline constexpr std::string_view kMaxWorkGroupSize = "max_work_group_size";  // threads
inline constexpr std::string_view kLocalBytes = "local_bytes";                // of a work group
inline constexpr std::string_view kBufferBytes = "buffer_bytes";              // the largest buffer
}  // namespace need

class VariantNeeds {
 public:
  VariantNeeds() = default;
  VariantNeeds(std::initializer_list<std::pair<std::string_view, std::uint64_t>> needs) {
    for (const auto& [name, least] : needs) require(name, least);
  }

  // Raises the need of this name to at least `least`; zero changes nothing.
  void require(std::string_view name, std::uint64_t least = 1);
  // The need of this name; 0 if there is none.
  std::uint64_t of(std::string_view name) const;
  const std::map<std::string, std::uint64_t, std::less<>>& all() const { return least_; }

  bool operator==(const VariantNeeds&) const = default;

 private:
  std::map<std::string, std::uint64_t, std::less<>> least_;
};

// The names of namespace `need`, features first.
struct KnownNeed {
  std::string_view name;
  bool is_feature;  // needed or not; otherwise a limit, which is needed up to a number
};
std::span<const KnownNeed> known_needs();

// The needs that a device does not meet, each as "images of 20000 x 1 texels (it allows 16384 x
// 16384)"; empty if it meets all.
std::vector<std::string> unmet_needs(const VariantNeeds& needs, const hal::DeviceInfo& device);

}  // namespace texloom::runtime
