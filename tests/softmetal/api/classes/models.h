// The devices of the software Metal.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace softmetal {

struct DeviceModel {
  const char* name;
  uint64_t registry_id;
  bool is_unified;  // if not, managed memory has copies on host and device
  bool is_apple;    // in Apple's GPU families, too, not only in the Macs'
  uint32_t simd_width;
  size_t linear_alignment;    // of textures over buffers, in bytes
  uint64_t clock_megahertz;   // of the counters' clock
  uint64_t clock_start;       // the counters' clock when the host's clock is 0
  bool has_residency_sets;    // as since macOS 15
  uint32_t indirect_threads;  // limit per threadgroup, in pipelines for indirect commands
};

inline constexpr std::array kDeviceModels = {
    DeviceModel{"Software Metal (for tests)", 1, true, true, 32, 16, 1000, 5000000000000000, true,
                1024},
    DeviceModel{"Software Metal (for tests, discrete)", 2, false, false, 8, 256, 27,
                1000000000000000, false, 512},
};

inline constexpr size_t kMaxBufferLength = size_t{1} << 34;
inline constexpr size_t kThreadgroupMemory = 32768;
inline constexpr uint32_t kMaxThreads = 1024;
inline constexpr size_t kBufferSlots = 31, kTextureSlots = 128, kSamplerSlots = 16;
inline constexpr size_t kPassSampleBuffers = 4;
// The limit of commands in an indirect command buffer, and in one execution.
inline constexpr size_t kMostIndirectCommands = 16384;

}  // namespace softmetal
