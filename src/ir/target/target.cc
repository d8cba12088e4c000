#include "ir/target/target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <sstream>

#include "support/check.h"
#include "support/diagnostic.h"

namespace texloom::ir {
namespace {

struct Kind {
  std::string_view name;  // in targets
  TargetKind kind;
  std::string_view api;  // in messages
};
constexpr std::array kKinds = {Kind{"opencl", TargetKind::OpenCL, "OpenCL"},
                               Kind{"metal", TargetKind::Metal, "Metal"}};

const Kind& row_of(TargetKind kind) {
  for (const Kind& row : kKinds) {
    if (row.kind == kind) return row;
  }
  TL_UNREACHABLE();
}

// Limits every device of the family has. Sources: the OpenCL 1.2 full profile's minima for the
// plain target (images 8192, 128 and 8 image arguments, 32 KiB, 1024 bytes of arguments) and
// NVIDIA's 64 threads along z, the vendors' guides for others.
struct Preset {
  std::string_view device;
  int64_t max_threads, max_threads_z, max_image_size, local_memory_bytes;
  bool is_processor;
};
constexpr std::array kPresets = {
    Preset{"", 1024, 64, 8192, 32768, true},
    Preset{"adreno", 1024, 1024, 16384, 32768, false},
    Preset{"mali", 256, 256, 8192, 32768, false},
    Preset{"intel_graphics", 256, 256, 16384, 65536, false},
    Preset{"nvidia", 1024, 64, 16384, 49152, false},
    Preset{"pocl", 1024, 1024, 8192, 32768, true},
};

// Limits every device of the family has (Apple's Metal feature set tables), and the version of the
// language that the first system for it compiles. The plain target is for Apple's GPUs from the A11
// on, and for Macs. Blocks have 1024 threads, 32 KiB of threadgroup memory and images of 16384 by
// 16384 texels on all of them. Argument buffers are those of tier 2, which GPUs of Macs by others
// than Apple may lack.
struct MetalPreset {
  std::string_view device;
  LanguageVersion language;
  int64_t max_textures, simd_width;
  bool argument_buffers;
};
constexpr std::array kMetalPresets = {
    MetalPreset{"", {2, 3}, 96, 1, false},
    MetalPreset{"a13", {2, 3}, 128, 32, true},
    MetalPreset{"m1", {2, 3}, 128, 32, true},
    MetalPreset{"m2", {2, 4}, 128, 32, true},
    MetalPreset{"m3", {3, 1}, 128, 32, true},
    MetalPreset{"m4", {3, 1}, 128, 32, true},
    // Intel's compiler chooses SIMD-groups of 8, 16 or 32 threads; those of AMD have 64.
    MetalPreset{"mac-intel", {2, 3}, 128, 1, false},
};
constexpr int64_t kMetalBuffers = 31;
constexpr int64_t kMetalTextures = 128;
constexpr int64_t kMetalSimdWidth = 64;  // of AMD's GPUs
constexpr int64_t kMetalBlock = 1024;
constexpr int64_t kMetalImageSize = 16384;
constexpr int64_t kMetalThreadgroupBytes = 32768;
constexpr int64_t kMetalConstantBytes = 4096;  // of setBytes

constexpr LanguageVersion kMetalLanguages[] = {{2, 3}, {2, 4}, {3, 0}, {3, 1}, {3, 2}};

struct Attribute {
  std::string_view name;
  int64_t GpuLimits::* field;
  std::optional<TargetKind> only = {};  // the kind that has it, if not all do
  int64_t most = 0;                     // that any device has, if that is known
};
constexpr std::array kAttributes = {
    Attribute{"max_num_threads", &GpuLimits::max_threads},
    Attribute{"max_num_threads_z", &GpuLimits::max_threads_z},
    Attribute{"texture_spatial_limit", &GpuLimits::max_image_size},
    Attribute{"max_local_memory", &GpuLimits::local_memory_bytes},
    Attribute{"max_private_memory", &GpuLimits::private_memory_bytes},
    Attribute{"max_image_reads", &GpuLimits::max_image_reads},
    Attribute{"max_image_writes", &GpuLimits::max_image_writes},
    Attribute{"max_parameter_size", &GpuLimits::max_parameter_bytes},
    Attribute{"max_buffers", &GpuLimits::max_buffers, TargetKind::Metal, kMetalBuffers},
    Attribute{"max_textures", &GpuLimits::max_textures, TargetKind::Metal, kMetalTextures},
    Attribute{"simd_width", &GpuLimits::simd_width, TargetKind::Metal, kMetalSimdWidth},
};

// The attribute for the version of Metal's language, as -msl=3.1.
constexpr std::string_view kLanguage = "msl";

struct Flag {
  std::string_view name;
  bool& (*field)(Target&);
  std::optional<TargetKind> only = {};
};
constexpr std::array kFlags = {
    Flag{"images", [](Target& t) -> bool& { return t.features.images; }},
    Flag{"float64", [](Target& t) -> bool& { return t.features.float64; }, TargetKind::OpenCL},
    Flag{"float16_arithmetic", [](Target& t) -> bool& { return t.features.float16_arithmetic; }},
    Flag{"argument_buffers", [](Target& t) -> bool& { return t.features.argument_buffers; },
         TargetKind::Metal},
    Flag{"block_stack", [](Target& t) -> bool& { return t.quirks.block_stack; },
         TargetKind::OpenCL},
    Flag{"conditional_barriers", [](Target& t) -> bool& { return t.quirks.conditional_barriers; }},
    Flag{"vector_trigonometry", [](Target& t) -> bool& { return t.quirks.vector_trigonometry; },
         TargetKind::OpenCL},
    Flag{"contract", [](Target& t) -> bool& { return t.math.contract; }},
    Flag{"checked", [](Target& t) -> bool& { return t.checked; }},
};

template <class Row>
bool belongs_to(const Row& row, const Target& target) {
  return !row.only || *row.only == target.kind;
}

bool apply_opencl_preset(Target& target, std::string_view device) {
  for (const Preset& preset : kPresets) {
    if (preset.device != device) continue;
    target.limits.max_threads = preset.max_threads;
    target.limits.max_threads_z = preset.max_threads_z;
    target.limits.max_image_size = preset.max_image_size;
    target.limits.local_memory_bytes = preset.local_memory_bytes;
    target.quirks = quirks_of(preset.is_processor);
    return true;
  }
  return false;
}

bool apply_metal_preset(Target& target, std::string_view device) {
  for (const MetalPreset& preset : kMetalPresets) {
    if (preset.device != device) continue;
    target.language = preset.language;
    target.limits.max_threads = target.limits.max_threads_z = kMetalBlock;
    target.limits.max_image_size = kMetalImageSize;
    target.limits.local_memory_bytes = kMetalThreadgroupBytes;
    target.limits.max_parameter_bytes = kMetalConstantBytes;
    target.limits.max_buffers = kMetalBuffers;
    target.limits.max_textures = preset.max_textures;
    target.limits.max_image_reads = target.limits.max_image_writes = preset.max_textures;
    target.limits.simd_width = preset.simd_width;
    target.features.float64 = false;
    target.features.float16_arithmetic = true;
    target.features.argument_buffers = preset.argument_buffers;
    target.quirks = quirks_of(false);
    return true;
  }
  return false;
}

// The target must be of its kind.
bool apply_preset(Target& target, std::string_view device) {
  target.device = device;
  switch (target.kind) {
    case TargetKind::OpenCL:
      return apply_opencl_preset(target, device);
    case TargetKind::Metal:
      return apply_metal_preset(target, device);
  }
  TL_UNREACHABLE();
}

// The preset of the target's kind and device.
Target preset_of(const Target& target) {
  Target preset;
  preset.kind = target.kind;
  TL_CHECK(apply_preset(preset, target.device));
  return preset;
}

std::string preset_help() {
  return fmt::format("use one of {}", fmt::join(target_presets(), ", "));
}

// Refuses a device's name, such as "metal:0", where a target is needed.
void refuse_device_name(std::string_view word, const SourceLocation& where) {
  for (const Kind& row : kKinds) {
    if (!word.starts_with(fmt::format("{}:", row.name))) continue;
    fail(where, Code::UnknownTarget,
         fmt::format("write \"{0}\" and attributes, as \"{0} -max_num_threads=256\"; "
                     "texloom.target.Target(\"{0}:0\") takes the name of a device",
                     row.name),
         "the target begins with '{}', the name of a device, not with a kind", word);
  }
}

// The language of Metal, as "3.1".
void apply_language(Target& target, std::string_view text, const SourceLocation& where) {
  std::vector<std::string> known;
  for (const LanguageVersion& version : kMetalLanguages) {
    if (to_string(version) == text) {
      target.language = version;
      return;
    }
    known.push_back(to_string(version));
  }
  fail(where, Code::UnknownTarget, fmt::format("use one of {}", fmt::join(known, ", ")),
       "no kernels are made for version '{}' of Metal's language", text);
}

void apply_attribute(Target& target, std::string_view word, const SourceLocation& where) {
  const size_t equals = word.find('=');
  const std::string_view name = word.substr(1, equals == word.npos ? word.npos : equals - 1);
  const std::string_view text = equals == word.npos ? "" : word.substr(equals + 1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool number = !text.empty() && error == std::errc() && end == text.data() + text.size();
  if (target.kind == TargetKind::Metal && name == kLanguage) {
    return apply_language(target, text, where);
  }
  if (target.kind == TargetKind::Metal && name == "float64" && number && value == 0) return;
  if (target.kind == TargetKind::Metal && name == "float64") {
    fail(where, Code::UnknownTarget,
         "compute in float32: x.astype('float32'), or build for \"opencl\"",
         "Metal's language has no float64");
  }
  for (const Flag& row : kFlags) {
    if (row.name != name || !belongs_to(row, target)) continue;
    if (!number || (value != 0 && value != 1)) {
      fail(where, Code::UnknownTarget, fmt::format("write -{}=1 or -{}=0", name, name),
           "the target attribute '{}' is 0 or 1, not '{}'", name, text);
    }
    row.field(target) = value == 1;
    return;
  }
  for (const Attribute& row : kAttributes) {
    if (row.name != name || !belongs_to(row, target)) continue;
    if (!number || value < 1) {
      fail(where, Code::UnknownTarget, "give it a positive number",
           "the target attribute '{}' needs a positive number, not '{}'", name, text);
    }
    if (row.most != 0 && value > row.most) {
      fail(where, Code::UnknownTarget, fmt::format("write at most -{}={}", name, row.most),
           "the target attribute '{}' is {}, but no device of Metal has more than {}", name, value,
           row.most);
    }
    target.limits.*row.field = value;
    return;
  }
  fail(where, Code::UnknownTarget,
       fmt::format(
           "write one as -max_num_threads=256; Target(\"{}\").attrs has them all with their values",
           to_string(target.kind)),
       "unknown target attribute '{}'", word);
}

}  // namespace

std::string_view to_string(TargetKind kind) { return row_of(kind).name; }

std::string to_string(LanguageVersion version) {
  return fmt::format("{}.{}", version.major, version.minor);
}

Quirks quirks_of(bool is_processor) {
  return {.block_stack = is_processor,
          .conditional_barriers = !is_processor,
          .vector_trigonometry = !is_processor};
}

Target parse_target(std::string_view text, const SourceLocation& where) {
  std::istringstream words{std::string(text)};
  std::string word;
  words >> word;
  const auto kind =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& row) { return row.name == word; });
  if (kind == kKinds.end()) {
    refuse_device_name(word, where);
    fail(where, Code::UnknownTarget, preset_help(), "no kernels are made for the target '{}'",
         text);
  }
  Target target;
  target.kind = kind->kind;
  TL_CHECK(apply_preset(target, ""));
  std::vector<std::string> attributes;
  while (words >> word) {
    if (word.starts_with("-device=")) {
      const std::string device = word.substr(std::string_view("-device=").size());
      if (device.empty() || !apply_preset(target, device)) {
        fail(where, Code::UnknownTarget, preset_help(), "unknown {} device preset '{}'", kind->api,
             device);
      }
    } else if (word.starts_with("-")) {
      attributes.push_back(word);
    } else {
      fail(where, Code::UnknownTarget, "attributes begin with a hyphen, as -max_num_threads=256",
           "unexpected '{}' in the target '{}'", word, text);
    }
  }
  for (const std::string& attribute : attributes) apply_attribute(target, attribute, where);
  return target;
}

std::string to_string(const Target& target) {
  const Target preset = preset_of(target);
  std::string text(to_string(target.kind));
  if (!target.device.empty()) text += " -device=" + target.device;
  if (target.language != preset.language) {
    text += fmt::format(" -{}={}", kLanguage, to_string(target.language));
  }
  for (const Attribute& row : kAttributes) {
    if (target.limits.*row.field != preset.limits.*row.field) {
      text += fmt::format(" -{}={}", row.name, target.limits.*row.field);
    }
  }
  const auto flags = flag_attributes(target), usual = flag_attributes(preset);
  for (size_t i = 0; i < flags.size(); ++i) {
    const auto [name, is_on] = flags[i];
    if (is_on != usual[i].second) text += fmt::format(" -{}={}", name, is_on ? 1 : 0);
  }
  return text;
}

std::vector<std::pair<std::string_view, bool>> flag_attributes(const Target& target) {
  Target copy = target;
  std::vector<std::pair<std::string_view, bool>> values;
  for (const Flag& row : kFlags) {
    if (belongs_to(row, target)) values.emplace_back(row.name, row.field(copy));
  }
  return values;
}

std::vector<std::pair<std::string_view, int64_t>> numeric_attributes(const Target& target) {
  std::vector<std::pair<std::string_view, int64_t>> values;
  for (const Attribute& row : kAttributes) {
    if (belongs_to(row, target)) values.emplace_back(row.name, target.limits.*row.field);
  }
  return values;
}

std::vector<std::string> target_presets() {
  std::vector<std::string> texts;
  const auto add = [&](TargetKind kind, std::string_view device) {
    texts.push_back(device.empty() ? std::string(to_string(kind))
                                   : fmt::format("{} -device={}", to_string(kind), device));
  };
  for (const Preset& preset : kPresets) add(TargetKind::OpenCL, preset.device);
  for (const MetalPreset& preset : kMetalPresets) add(TargetKind::Metal, preset.device);
  return texts;
}

}  // namespace texloom::ir
