#include "support/processor/processor.h"

#include <algorithm>

#include "support/processor/detect.h"

namespace texloom {

namespace {

constexpr std::string_view kX86[] = {
#define TEXLOOM_X86_FEATURE(name, leaf, subleaf, reg, bit, state) name,
#include "support/processor/features.def"
};
constexpr std::string_view kAarch64[] = {
#define TEXLOOM_AARCH64_FEATURE(name, type, bit) name,
#include "support/processor/features.def"
};

}  // namespace

std::string_view processor_architecture() { return TEXLOOM_ARCHITECTURE; }

const std::vector<std::string_view>& processor_features() {
  static const std::vector<std::string_view> kFeatures = [] {
    std::vector<std::string_view> found;
    for (const std::string_view name : known_processor_features(processor_architecture())) {
      if (texloom_processor_has(name.data(), name.size()) != 0) found.push_back(name);
    }
    return found;
  }();
  return kFeatures;
}

bool enable_processor_features(std::span<const std::string_view> features) {
  const bool uses_tiles = std::ranges::any_of(features, [](std::string_view name) {
    return texloom_is_tile_feature(name.data(), name.size()) != 0;
  });
  return !uses_tiles || texloom_request_tiles() != 0;
}

std::span<const std::string_view> known_processor_features(std::string_view architecture) {
  if (architecture == "x86_64") return kX86;
  if (architecture == "aarch64") return kAarch64;
  return {};
}

}  // namespace texloom
