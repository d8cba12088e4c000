#include "runtime/package/needs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace texloom::runtime {
namespace {

using namespace need;
using hal::DeviceInfo;

// A need for which every device has a value.
struct Row {
  KnownNeed need;
  std::uint64_t (*present)(const DeviceInfo& device);
  // The message, with {needed} and {present}; "" for the size of images, which has one message.
  std::string_view words;
};

constexpr std::array kRows = {
    Row{{kImages, true}, [](const DeviceInfo& d) { return std::uint64_t{d.features.images}; }, ""},
    Row{{kMaxImageWidth, false},
        [](const DeviceInfo& d) { return std::uint64_t{d.limits.max_image_width}; },
        ""},
    Row{{kMaxImageHeight, false},
        [](const DeviceInfo& d) { return std::uint64_t{d.limits.max_image_height}; },
        ""},
    Row{{kFloat64, true},
        [](const DeviceInfo& d) { return std::uint64_t{d.features.float64}; },
        "float64"},
    Row{{kFloat16Arithmetic, true},
        [](const DeviceInfo& d) { return std::uint64_t{d.features.float16_arithmetic}; },
        "float16 arithmetic"},
    Row{{kMaxWorkGroupSize, false},
        [](const DeviceInfo& d) { return d.limits.max_workgroup_size; },
        "work groups of {needed} threads (it allows {present})"},
    Row{{kLocalBytes, false},
        [](const DeviceInfo& d) { return d.limits.local_memory_bytes; },
        "{needed} bytes of local memory (it has {present})"},
    Row{{kBufferBytes, false},
        [](const DeviceInfo& d) { return d.limits.max_allocation_bytes; },
        "buffers of {needed} bytes (it allows {present})"},
};

constexpr std::array<KnownNeed, kRows.size()> known_rows() {
  std::array<KnownNeed, kRows.size()> known{};
  std::size_t count = 0;
  for (const bool is_feature : {true, false}) {
    for (const Row& row : kRows) {
      if (row.need.is_feature == is_feature) known[count++] = row.need;
    }
  }
  return known;
}
constexpr std::array kKnown = known_rows();

void add_unmet_images(const VariantNeeds& needs, const DeviceInfo& device,
                      std::vector<std::string>& unmet) {
  const std::uint64_t width = needs.of(kMaxImageWidth), height = needs.of(kMaxImageHeight);
  const hal::DeviceLimits& limits = device.limits;
  if (needs.of(kImages) != 0 && !device.features.images) {
    unmet.emplace_back("images");
  } else if (width > limits.max_image_width || height > limits.max_image_height) {
    unmet.push_back(fmt::format("images of up to {} x {} texels (it allows {} x {})", width, height,
                                limits.max_image_width, limits.max_image_height));
  }
}

}  // namespace

void VariantNeeds::require(std::string_view name, std::uint64_t least) {
  if (least == 0) return;
  const auto found = least_.find(name);
  if (found == least_.end()) {
    least_.emplace(name, least);
  } else {
    found->second = std::max(found->second, least);
  }
}

std::uint64_t VariantNeeds::of(std::string_view name) const {
  const auto found = least_.find(name);
  return found == least_.end() ? 0 : found->second;
}

std::span<const KnownNeed> known_needs() { return kKnown; }

std::vector<std::string> unmet_needs(const VariantNeeds& needs, const hal::DeviceInfo& device) {
  std::vector<std::string> unmet;
  add_unmet_images(needs, device, unmet);
  for (const Row& row : kRows) {
    const std::uint64_t needed = needs.of(row.need.name), present = row.present(device);
    if (needed <= present || row.words.empty()) continue;
    unmet.push_back(fmt::format(fmt::runtime(row.words), fmt::arg("needed", needed),
                                fmt::arg("present", present)));
  }
  for (const auto& [name, least] : needs.all()) {
    const bool is_known =
        std::ranges::any_of(kRows, [&name](const Row& row) { return row.need.name == name; });
    if (!is_known && std::ranges::find(device.extensions, name) == device.extensions.end())
      unmet.push_back(name);
  }
  return unmet;
}

}  // namespace texloom::runtime
