#include "runtime/drivers/opencl/platform/platform.h"

#include <CL/cl_ext.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>

#include "runtime/drivers/opencl/api/error.h"
#include "runtime/drivers/opencl/platform/disjoint_views.h"
#include "runtime/drivers/opencl/platform/quirks.h"
#include "runtime/drivers/opencl/platform/words.h"
#include "runtime/hal/internal/devices/device_id.h"
#include "runtime/hal/internal/memory/machine_memory.h"

namespace texloom::hal::opencl {
namespace {

constexpr cl_int kPlatformNotFound = -1001;  // CL_PLATFORM_NOT_FOUND_KHR of cl_khr_icd
constexpr std::string_view kAdvice =
    "install an OpenCL implementation (Debian: pocl-opencl-icd runs on the CPU)";

// Reads one device's properties. Keeps the error of the first failing query and then stops reading.
class DeviceReader {
 public:
  DeviceReader(const Api& api, cl_device_id device) : api_(api), device_(device) {}

  template <typename T>
  T scalar(cl_device_info name) {
    T value = {};
    keep(api_.clGetDeviceInfo(device_, name, sizeof value, &value, nullptr));
    return value;
  }

  // The value of a property; zero if the query fails.
  template <typename T>
  T optional_scalar(cl_device_info name) {
    T value = {};
    const cl_int code = api_.clGetDeviceInfo(device_, name, sizeof value, &value, nullptr);
    return code == CL_SUCCESS ? value : T{};
  }

  std::string text(cl_device_info name) {
    std::size_t size = 0;
    if (!keep(api_.clGetDeviceInfo(device_, name, 0, nullptr, &size))) return {};
    std::string value(size, '\0');
    keep(api_.clGetDeviceInfo(device_, name, size, value.data(), nullptr));
    value.resize(value.find_last_not_of(std::string_view("\0 ", 2)) + 1);
    return value;
  }

  // The maximum number of work items per axis; 1 for axes that the device does not have.
  std::array<std::uint64_t, 3> workitem_sizes() {
    const auto axes = scalar<cl_uint>(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS);
    std::vector<std::size_t> sizes(std::max<std::size_t>(axes, 3), 1);
    keep(api_.clGetDeviceInfo(device_, CL_DEVICE_MAX_WORK_ITEM_SIZES, axes * sizeof(std::size_t),
                              sizes.data(), nullptr));
    return {sizes[0], sizes[1], sizes[2]};
  }

  cl_int error() const { return error_; }

 private:
  bool keep(cl_int code) {
    if (error_ == CL_SUCCESS) error_ = code;
    return error_ == CL_SUCCESS;
  }

  const Api& api_;
  cl_device_id device_;
  cl_int error_ = CL_SUCCESS;
};

DeviceType device_type_of(cl_device_type type) {
  if ((type & CL_DEVICE_TYPE_GPU) != 0) return DeviceType::Gpu;
  if ((type & CL_DEVICE_TYPE_ACCELERATOR) != 0) return DeviceType::Accelerator;
  if ((type & CL_DEVICE_TYPE_CPU) != 0) return DeviceType::Cpu;
  return DeviceType::Other;
}

bool rounds_to_nearest(cl_device_fp_config config) {
  constexpr cl_device_fp_config kNeeded = CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN;
  return (config & kNeeded) == kNeeded;
}

DeviceLimits read_limits(DeviceReader& reader, bool images) {
  DeviceLimits limits;
  if (images) {
    limits.max_image_width =
        static_cast<std::uint32_t>(reader.scalar<std::size_t>(CL_DEVICE_IMAGE2D_MAX_WIDTH));
    limits.max_image_height =
        static_cast<std::uint32_t>(reader.scalar<std::size_t>(CL_DEVICE_IMAGE2D_MAX_HEIGHT));
    limits.max_read_images = reader.scalar<cl_uint>(CL_DEVICE_MAX_READ_IMAGE_ARGS);
    limits.max_write_images = reader.scalar<cl_uint>(CL_DEVICE_MAX_WRITE_IMAGE_ARGS);
  }
  limits.max_workgroup_size = reader.scalar<std::size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE);
  limits.max_workitem_sizes = reader.workitem_sizes();
  limits.local_memory_bytes = reader.scalar<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE);
  limits.max_allocation_bytes = reader.scalar<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  limits.max_argument_bytes = reader.scalar<std::size_t>(CL_DEVICE_MAX_PARAMETER_SIZE);
  // OpenCL reports the alignment in bits.
  limits.buffer_offset_alignment =
      std::max<std::uint64_t>(reader.scalar<cl_uint>(CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8, 1);
  limits.import_address_alignment = limits.buffer_offset_alignment;
  limits.global_memory_bytes = reader.scalar<cl_ulong>(CL_DEVICE_GLOBAL_MEM_SIZE);
  limits.compute_units = reader.scalar<cl_uint>(CL_DEVICE_MAX_COMPUTE_UNITS);
  return limits;
}

// OpenCL tells the lanes of a processor's vectors, but not the number of its registers, which
// follows from the architecture: such a device is the processor that this code runs on.
void read_vector_registers(DeviceReader& reader, DeviceLimits& limits) {
  const auto bytes = 4 * reader.scalar<cl_uint>(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT);
  if (bytes != 16 && bytes != 32 && bytes != 64) return;
#ifdef __aarch64__
  constexpr bool kIsArm = true;
#else
  constexpr bool kIsArm = false;
#endif
  limits.vector_register_bytes = bytes;
  limits.vector_registers = kIsArm || bytes == 64 ? 32 : 16;
}

// A processor may report memory that a container or a limit of the process withholds.
void hold_to_machine_memory(DeviceLimits& limits) {
  const std::uint64_t bytes = machine_memory_bytes();
  limits.global_memory_bytes = std::min(limits.global_memory_bytes, bytes);
  limits.max_allocation_bytes = std::min(limits.max_allocation_bytes, bytes);
}

void read_view_alignments(DeviceReader& reader, std::string_view extensions, DeviceInfo& info) {
  if (!info.features.images || !has_word(extensions, "cl_khr_image2d_from_buffer")) return;
  const auto pitch = reader.optional_scalar<cl_uint>(CL_DEVICE_IMAGE_PITCH_ALIGNMENT_KHR);
  const auto base = reader.optional_scalar<cl_uint>(CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT_KHR);
  // A device without support for views reports zero, even if it lists the extension.
  info.features.texture_views = pitch != 0 && base != 0;
  info.limits.view_pitch_alignment = std::max<cl_uint>(pitch, 1);
  info.limits.view_base_alignment = std::max<cl_uint>(base, 1);
}

// cl_nv_device_attribute_query
constexpr cl_device_info kComputeCapabilityMajor = 0x4000;
constexpr cl_uint kLeastMatrixCapability = 8;

bool has_matrix_fragments(DeviceReader& reader, const std::string& extensions) {
  return has_word(extensions, "cl_nv_device_attribute_query") &&
         reader.optional_scalar<cl_uint>(kComputeCapabilityMajor) >= kLeastMatrixCapability;
}

void make_ids_unique(std::vector<PlatformDevice>& devices) {
  UniqueIds ids;
  for (PlatformDevice& device : devices) {
    DeviceInfo info = *device.info;
    info.id = ids.add(info.id);
    device.info = std::make_shared<const DeviceInfo>(std::move(info));
  }
}

Result<DeviceInfo> read_device(const Api& api, cl_device_id device, std::string platform) {
  DeviceReader reader(api, device);
  DeviceInfo info;
  info.name = reader.text(CL_DEVICE_NAME);
  info.vendor = reader.text(CL_DEVICE_VENDOR);
  info.driver = "opencl";
  info.formats = {KernelFormat::OpenClC, KernelFormat::OpenClBinary};
  info.id = device_id(fmt::format("{} {}", platform, info.name));
  info.platform = std::move(platform);
  info.driver_version = reader.text(CL_DRIVER_VERSION);
  info.api_version = reader.text(CL_DEVICE_VERSION);
  info.language_version = reader.text(CL_DEVICE_OPENCL_C_VERSION);
  info.type = device_type_of(reader.scalar<cl_device_type>(CL_DEVICE_TYPE));
  const std::string extensions = reader.text(CL_DEVICE_EXTENSIONS);
  info.features.images = reader.scalar<cl_bool>(CL_DEVICE_IMAGE_SUPPORT) != CL_FALSE;
  info.features.float16_arithmetic =
      has_word(extensions, "cl_khr_fp16") &&
      rounds_to_nearest(reader.optional_scalar<cl_device_fp_config>(CL_DEVICE_HALF_FP_CONFIG));
  info.features.in_order_commands = true;  // this driver's queues are in order
  info.features.native_commands = true;
  info.features.float64 = has_word(extensions, "cl_khr_fp64");
  info.features.matrix_fragments = has_matrix_fragments(reader, extensions);
  info.features.host_import = true;
  info.limits = read_limits(reader, info.features.images);
  if (info.type == DeviceType::Cpu) {
    hold_to_machine_memory(info.limits);
    read_vector_registers(reader, info.limits);
  }
  read_view_alignments(reader, extensions, info);
  // Shared memory is not persistent: an implementation may move mapped memory, and requires it to
  // be unmapped before kernels use it.
  const MemoryKindInfo shared{.available = true, .mappable = true};
  const MemoryKindInfo managed{.available = true, .mappable = true, .persistent = true};
  info.memory_kinds = {MemoryKindInfo{.available = true}, shared, managed};
  const bool available = reader.scalar<cl_bool>(CL_DEVICE_AVAILABLE) != CL_FALSE;
  const bool little_endian = reader.scalar<cl_bool>(CL_DEVICE_ENDIAN_LITTLE) != CL_FALSE;
  const bool compiles = reader.scalar<cl_bool>(CL_DEVICE_COMPILER_AVAILABLE) != CL_FALSE;
  info.features.disjoint_views = has_disjoint_views(info);
  add_quirks(info);
  info.features.compiles_at_first_run = has_quirk(info, kCompilesAtFirstRun);
  TL_RETURN_IF_ERROR(to_status(reader.error(), "clGetDeviceInfo"));
  if (!available)
    return make_error(StatusCode::Unavailable, "device {} is not available", info.name);
  // The driver passes scalars and addresses bytes in the host's byte order.
  if (!little_endian)
    return make_error(StatusCode::Unavailable,
                      "device {} is big-endian, and only little-endian devices are supported",
                      info.name);
  if (!compiles) return make_error(StatusCode::Unavailable, "device {} has no compiler", info.name);
  return info;
}

constexpr const char* kUnnamed = "an unnamed platform";

std::string platform_name(const Api& api, cl_platform_id platform) {
  std::size_t size = 0;
  if (api.clGetPlatformInfo(platform, CL_PLATFORM_NAME, 0, nullptr, &size) != CL_SUCCESS)
    return kUnnamed;
  std::string name(size, '\0');
  if (api.clGetPlatformInfo(platform, CL_PLATFORM_NAME, size, name.data(), nullptr) != CL_SUCCESS)
    return kUnnamed;
  return name.c_str();
}

Result<std::vector<cl_platform_id>> find_platforms(const Api& api) {
  cl_uint count = 0;
  cl_int code = api.clGetPlatformIDs(0, nullptr, &count);
  std::vector<cl_platform_id> platforms(count);
  if (code == CL_SUCCESS && count > 0)
    code = api.clGetPlatformIDs(count, platforms.data(), nullptr);
  if (code == kPlatformNotFound || (code == CL_SUCCESS && count == 0))
    return make_error(StatusCode::Unavailable, "no OpenCL device: the loader knows no platform; {}",
                      kAdvice);
  TL_RETURN_IF_ERROR(to_status(code, "clGetPlatformIDs"));
  return platforms;
}

Result<std::vector<cl_device_id>> devices_of(const Api& api, cl_platform_id platform) {
  cl_uint count = 0;
  TL_RETURN_IF_ERROR(to_status(api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count),
                               "clGetDeviceIDs"));
  std::vector<cl_device_id> devices(count);
  if (count > 0)
    TL_RETURN_IF_ERROR(
        to_status(api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr),
                  "clGetDeviceIDs"));
  return devices;
}

}  // namespace

Result<std::vector<PlatformDevice>> find_devices(const Api& api) {
  TL_ASSIGN_OR_RETURN(const std::vector<cl_platform_id> platforms, find_platforms(api));
  std::vector<PlatformDevice> found;
  std::string left_out;  // the platforms and devices that are not in the list, with reasons
  for (cl_platform_id platform : platforms) {
    const std::string name = platform_name(api, platform);
    const Result<std::vector<cl_device_id>> devices = devices_of(api, platform);
    if (!devices.ok()) {
      left_out += fmt::format("; {}: {}", name, devices.status().message());
      continue;
    }
    for (cl_device_id device : *devices) {
      Result<DeviceInfo> info = read_device(api, device, name);
      if (info.ok())
        found.push_back({platform, device, std::make_shared<const DeviceInfo>(*std::move(info))});
      else
        left_out += fmt::format("; {}: {}", name, info.status().message());
    }
  }
  if (found.empty())
    return make_error(StatusCode::Unavailable, "no OpenCL device{}; {}", left_out, kAdvice);
  std::vector<PlatformDevice> ordered;
  for (const DeviceType type :
       {DeviceType::Gpu, DeviceType::Accelerator, DeviceType::Cpu, DeviceType::Other})
    std::copy_if(found.begin(), found.end(), std::back_inserter(ordered),
                 [type](const PlatformDevice& device) { return device.info->type == type; });
  make_ids_unique(ordered);
  return ordered;
}

}  // namespace texloom::hal::opencl
