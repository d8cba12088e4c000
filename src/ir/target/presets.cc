#include "ir/target/presets.h"

#include <algorithm>
#include <array>

namespace texloom::ir {
namespace {

using enum TargetKind;
using enum DeviceClass;

// Limits that are not parameters are the minima of the OpenCL 1.2 full profile.
constexpr KernelLimits opencl_limits(int64_t threads, int64_t threads_z, int64_t image_size,
                                     int64_t local_memory_bytes) {
  KernelLimits limits;
  limits.max_threads = threads;
  limits.max_threads_z = threads_z;
  limits.max_image_size = image_size;
  limits.local_memory_bytes = local_memory_bytes;
  return limits;
}

// All devices have blocks of 1024 threads, 32 KiB of threadgroup memory, images of 16384 by 16384
// texels, 31 slots for buffers, and 4096 bytes for setBytes.
constexpr KernelLimits metal_limits(int64_t textures, int64_t simd_width) {
  KernelLimits limits;
  limits.max_threads = limits.max_threads_z = 1024;
  limits.max_image_size = 16384;
  limits.local_memory_bytes = 32768;
  limits.max_parameter_bytes = 4096;
  limits.max_image_reads = limits.max_image_writes = textures;
  limits.slots = {.buffers = 31, .textures = textures};
  limits.simd_width = simd_width;
  return limits;
}

// `argument_buffers`: whether argument buffers are of tier 2. Macs with GPUs of other makers than
// Apple may lack them.
constexpr Features metal_features(bool argument_buffers) {
  return {.float64 = false, .float16_arithmetic = true, .argument_buffers = argument_buffers};
}

// PTX has fences of the device's scope and products of fragments, which OpenCL C 1.2 lacks. The
// latter need compute capability 8.0.
constexpr Features kNvidiaFeatures{.matrix_unit = MatrixUnit::MmaSync, .device_fence = true};

// Sources: for the plain "opencl" the OpenCL 1.2 full profile's minima (images 8192, 128 and 8
// image arguments, 32 KiB, 1024 bytes of arguments) and NVIDIA's 64 threads along z; the vendors'
// guides for other OpenCL devices; Apple's Metal feature set tables, with the version of the
// language that the first system for the family compiles. The plain "metal" is for Apple's GPUs
// from the A11 on, and for Macs. Intel's compiler for Macs chooses SIMD-groups of 8, 16 or 32
// threads. The limits of "llvm" are those of the driver "host".
constexpr std::array kPresets = {
    Preset{OpenCL, "", {}, Cpu, opencl_limits(1024, 64, 8192, 32768)},
    Preset{OpenCL, "adreno", "Adreno", Gpu, opencl_limits(1024, 1024, 16384, 32768)},
    Preset{OpenCL, "mali", "Mali", Gpu, opencl_limits(256, 256, 8192, 32768)},
    Preset{OpenCL, "intel_graphics", "Intel", Gpu, opencl_limits(256, 256, 16384, 65536)},
    Preset{OpenCL, "nvidia", "NVIDIA", Gpu, opencl_limits(1024, 64, 16384, 49152), kNvidiaFeatures},
    Preset{OpenCL, "pocl", "Portable Computing Language", Cpu,
           opencl_limits(1024, 1024, 8192, 32768)},
    Preset{Metal, "", {}, Gpu, metal_limits(96, 1), metal_features(false), {2, 3}},
    Preset{Metal, "a13", {}, Gpu, metal_limits(128, 32), metal_features(true), {2, 3}},
    Preset{Metal, "m1", "Apple", Gpu, metal_limits(128, 32), metal_features(true), {2, 3}},
    Preset{Metal, "m2", {}, Gpu, metal_limits(128, 32), metal_features(true), {2, 4}},
    Preset{Metal, "m3", {}, Gpu, metal_limits(128, 32), metal_features(true), {3, 1}},
    Preset{Metal, "m4", {}, Gpu, metal_limits(128, 32), metal_features(true), {3, 1}},
    Preset{Metal, "mac-intel", "", Gpu, metal_limits(128, 1), metal_features(false), {2, 3}},
    Preset{Llvm, "", {}, Cpu, opencl_limits(1024, 1024, 16384, 65536)},
};

// Objects of all of them are in ELF. Every Linux of the architecture runs them, also on Apple's
// processors.
constexpr std::string_view kX86 = "x86_64-linux-gnu", kArm = "aarch64-linux-gnu";
constexpr std::array kProcessors = {
    ProcessorPreset{"generic", "", ""},
    ProcessorPreset{"native", "", "native"},
    ProcessorPreset{"haswell", kX86, "haswell"},
    ProcessorPreset{"skylake-avx512", kX86, "skylake-avx512"},
    ProcessorPreset{"znver4", kX86, "znver4"},
    ProcessorPreset{"cortex-a55", kArm, "cortex-a55"},
    ProcessorPreset{"cortex-a76", kArm, "cortex-a76"},
    ProcessorPreset{"apple-m1", kArm, "apple-m1"},
};

// No property is missing where no compiler of others is between the kernels and the machine.
constexpr Quirks kNoQuirks{.conditional_barriers = true, .vector_trigonometry = true};

Target target_of(const Preset& preset) {
  Target target;
  target.kind = preset.kind;
  target.device = preset.device;
  target.device_class = preset.device_class;
  target.language = preset.language;
  target.limits = preset.limits;
  target.features = preset.features;
  target.quirks = preset.kind == Llvm ? kNoQuirks : quirks_of(preset.device_class);
  return target;
}

bool is_recognized(const Preset& preset, std::span<const std::string_view> names) {
  return preset.word && std::any_of(names.begin(), names.end(), [&](std::string_view name) {
           return name.find(*preset.word) != name.npos;
         });
}

}  // namespace

std::span<const Preset> presets() { return kPresets; }

std::span<const ProcessorPreset> processors() { return kProcessors; }

std::optional<Target> processor_target(std::string_view name) {
  for (const ProcessorPreset& each : kProcessors) {
    if (each.name != name) continue;
    std::optional<Target> target = preset_target(Llvm, "");
    target->machine = {
        .triple = std::string(each.triple), .cpu = std::string(each.cpu), .features = {}};
    return target;
  }
  return {};
}

std::optional<Target> preset_target(TargetKind kind, std::string_view device) {
  if (kind == Llvm && !device.empty()) return processor_target(device);
  for (const Preset& preset : kPresets) {
    if (preset.kind == kind && preset.device == device) return target_of(preset);
  }
  return {};
}

Target recognized_target(TargetKind kind, DeviceClass device_class,
                         std::span<const std::string_view> names) {
  for (const Preset& preset : kPresets) {
    if (preset.kind == kind && preset.device_class == device_class && is_recognized(preset, names))
      return target_of(preset);
  }
  return preset_target(kind, "").value();
}

std::vector<std::string> target_presets() {
  std::vector<std::string> texts;
  for (const Preset& preset : kPresets) texts.push_back(to_string(target_of(preset)));
  for (const ProcessorPreset& each : kProcessors) texts.emplace_back(each.name);
  return texts;
}

}  // namespace texloom::ir
