// What is known of a device before it is opened: names, features, limits. Plain data.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace texloom::hal {

enum class DeviceType : std::uint8_t { Gpu, Accelerator, Cpu, Other };
std::string_view to_string(DeviceType type);  // "gpu", …

struct DeviceLimits {
  std::uint32_t max_image_width = 0;                     // texels; 0 without image support
  std::uint32_t max_image_height = 0;                    // texels; 0 without image support
  std::uint32_t max_read_images = 0;                     // arguments of one kernel
  std::uint32_t max_write_images = 0;                    // arguments of one kernel
  std::uint64_t max_workgroup_size = 0;                  // work items; a kernel's may be lower
  std::array<std::uint64_t, 3> max_workitem_sizes = {};  // work items of a group, per axis
  std::uint64_t local_memory_bytes = 0;                  // per work group
  std::uint64_t max_allocation_bytes = 0;                // of one buffer or texture
  std::uint64_t max_argument_bytes = 0;                  // all arguments of one kernel
  std::uint64_t buffer_offset_alignment = 1;             // bytes; of a bound buffer's offset
  std::uint64_t global_memory_bytes = 0;
  std::uint32_t compute_units = 0;
};

struct DeviceFeatures {
  bool images = false;
  // Arithmetic that rounds to nearest and has infinities: OpenCL asks for neither. Results below
  // the smallest normal number may still be zero on devices without half denormals. As a storage
  // type half is always there.
  bool float16_arithmetic = false;
  bool float64 = false;
};

struct DeviceInfo {
  std::string name;
  std::string vendor;
  std::string platform;
  std::string driver_version;
  std::string api_version;       // of the device's API, "OpenCL 3.0 PoCL …"
  std::string language_version;  // of its kernel language, "OpenCL C 1.2 PoCL"
  DeviceType type = DeviceType::Other;
  DeviceFeatures features;
  DeviceLimits limits;

  bool is_gpu() const { return type == DeviceType::Gpu; }
};

}  // namespace texloom::hal
