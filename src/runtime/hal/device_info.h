// The description of a device, known before it is opened: names, features, limits. Plain data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/hal/types.h"
#include "support/kernel_format.h"

namespace texloom::hal {

enum class DeviceType : std::uint8_t { Gpu, Accelerator, Cpu, Other };
std::string_view to_string(DeviceType type);  // "gpu", …

// The value of a limit on a device without that limit.
inline constexpr std::uint32_t kNoLimit32 = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint64_t kNoLimit64 = std::numeric_limits<std::uint64_t>::max();

struct DeviceLimits {
  std::uint32_t max_image_width = 0;                     // texels; 0 without image support
  std::uint32_t max_image_height = 0;                    // texels; 0 without image support
  std::uint32_t max_read_images = 0;                     // arguments of one kernel
  std::uint32_t max_write_images = 0;                    // arguments of one kernel
  std::uint32_t max_buffers = kNoLimit32;                // arguments of one kernel
  std::uint64_t max_workgroup_size = 0;                  // work items; a kernel's may be lower
  std::array<std::uint64_t, 3> max_workitem_sizes = {};  // work items of a group, per axis
  // Work groups of a dispatch, per axis.
  std::array<std::uint32_t, 3> max_groups = {kNoLimit32, kNoLimit32, kNoLimit32};
  std::uint64_t local_memory_bytes = 0;           // per work group
  std::uint64_t max_allocation_bytes = 0;         // of one buffer or texture
  std::uint64_t max_argument_bytes = 0;           // all arguments of one kernel
  std::uint64_t max_constant_bytes = kNoLimit64;  // all scalars of one kernel
  std::uint64_t buffer_offset_alignment = 1;      // bytes; of a bound buffer's offset
  // Bytes; 1 or 4. Fills, copies and updates whose offsets and lengths are multiples of this value
  // run at full speed; other transfers need kernels.
  std::uint64_t transfer_alignment = 1;
  std::uint64_t global_memory_bytes = 0;
  std::uint32_t compute_units = 0;
  // The vector registers of a processor, for which schedules choose tiles; 0 if they are not known.
  std::uint32_t vector_registers = 0;
  std::uint32_t vector_register_bytes = 0;
  // For textures that are views over a buffer, in texels of the view's format.
  std::uint32_t view_pitch_alignment = 1;  // of the row pitch
  std::uint32_t view_base_alignment = 1;   // of the first texel's position in the buffer
  // For host memory that is imported as a buffer.
  std::uint64_t import_address_alignment = 1;  // bytes
  std::uint64_t import_size_alignment = 1;     // bytes
};

struct DeviceFeatures {
  bool images = false;
  // Half arithmetic that rounds to nearest and has infinities; OpenCL requires neither. On devices
  // without half denormals, results below the smallest normal number may be zero. Half is always
  // available as a storage type.
  bool float16_arithmetic = false;
  bool float64 = false;
  // A kernel may receive its buffers and textures in one argument buffer, which may hold more than
  // DeviceLimits::max_buffers, max_read_images and max_write_images allow.
  bool argument_buffers = false;
  // SIMD-groups multiply fragments of matrices: NVIDIA's mma.sync of compute capability 8.0 or
  // more, Metal's simdgroup_matrix.
  bool matrix_fragments = false;
  bool texture_views = false;  // Allocator::create_view
  // A kernel may access distinct bytes of one buffer through two arguments, of which at least one
  // is a view and at least one is written. Without this feature, dispatches refuse such arguments.
  bool disjoint_views = false;
  bool host_import = false;  // Allocator::import
  // The device compiles a kernel when it first runs, not when its executable is built.
  bool compiles_at_first_run = false;
  // Commands run in the order in which they are recorded, so barriers are not needed.
  bool in_order_commands = false;
  bool indirect_dispatch = false;
  bool native_commands = false;  // CommandBuffer::native
};

// The properties of one kind of memory on a device.
struct MemoryKindInfo {
  bool available = false;
  bool mappable = false;  // Buffer::map
  // May stay mapped while the device uses it. Otherwise the mapping must be released before work
  // that uses the buffer is submitted.
  bool persistent = false;
  // The host and the device see each other's writes without Mapping::flush and invalidate.
  bool coherent = false;
};

// A driver's workaround for a device that does not behave as it reports.
struct Quirk {
  std::string name;
  std::string reason;
};

struct DeviceInfo {
  std::string driver;  // Driver::name(): "opencl", "host", "null"
  // Unique within a driver, and the same in every process while the machine's devices do not
  // change. Consists of lower-case letters, digits, '-' and '.', and never only of digits.
  std::string id;
  std::string name;
  std::string vendor;
  std::string platform;
  std::string driver_version;
  std::string api_version;       // of the device's API, "OpenCL 3.0 PoCL …"
  std::string language_version;  // of its kernel language, "OpenCL C 1.2 PoCL"
  DeviceType type = DeviceType::Other;
  DeviceFeatures features;
  DeviceLimits limits;
  // The formats of kernels that the driver prepares, in the order of its preference.
  std::vector<KernelFormat> formats;
  // Further features for kernels, by name, such as extensions of the processor: "avx2".
  std::vector<std::string> extensions;
  std::array<MemoryKindInfo, kAllMemoryKinds.size()> memory_kinds = {
      MemoryKindInfo{.available = true}};  // by MemoryKind
  std::vector<Quirk> quirks;

  const MemoryKindInfo& memory(MemoryKind kind) const {
    return memory_kinds[static_cast<std::size_t>(kind)];
  }
  bool is_gpu() const { return type == DeviceType::Gpu; }
};

class Profile;

// Options for opening a device.
struct DeviceOptions {
  // Exposes mistakes that a device may tolerate, at some cost: fills memory mapped for
  // Access::Write with a pattern.
  bool debug = false;
  // Receives the commands of queues with their times; null disables profiling.
  std::shared_ptr<Profile> profile = {};
};

}  // namespace texloom::hal
