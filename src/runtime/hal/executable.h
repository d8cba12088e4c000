// Kernels made from source, with the table of what each takes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/hal/device_info.h"
#include "runtime/hal/types.h"
#include "support/status.h"

namespace texloom::hal {

struct BufferParam {
  std::string name;
  Access access = Access::Read;
  std::uint64_t min_bytes = 0;  // behind the bound offset; 0 is not checked
};

// Whether a kernel adds an origin to its coordinates. With Zero it is specialised for a tensor at
// (0, 0), and any other origin is refused; with Constants two constants of the kernel hold it.
enum class TextureOrigin : std::uint8_t { Zero, Constants };

struct TextureParam {
  std::string name;
  TexelFormat format = TexelFormat::Rgba32Float;
  Access access = Access::Read;  // ReadWrite is refused
  Extent2D min_extent = {};      // behind the bound origin; zeros are not checked
  TextureOrigin origin = TextureOrigin::Zero;
};

// A scalar passed by value: a type of 32 or 64 bits.
struct ConstantParam {
  std::string name;
  ElementType type = ElementType::Int32;
};

using KernelParam = std::variant<BufferParam, TextureParam, ConstantParam>;
std::string_view name_of(const KernelParam& param);
// "a buffer", "a texture rgba32float", "a constant int32"
std::string describe(const KernelParam& param);

struct EntryPoint {
  std::string name;
  std::vector<KernelParam> params;  // in the order of the kernel's arguments
  std::array<std::uint32_t, 3> workgroup_size = {1, 1, 1};
};

struct ExecutableDesc {
  std::string source;  // in the device's language: OpenCL C for the driver `opencl`
  std::vector<std::string> build_options;
  std::vector<EntryPoint> entry_points;
};

// Made by Device::create_executable, which compiles and checks every entry point against the
// device's limits and against the compiled kernel. Thread safe. Ownership: as for Buffer.
class Executable {
 public:
  virtual ~Executable() = default;
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  const std::vector<EntryPoint>& entry_points() const { return entry_points_; }
  // NotFound, with the names there are, when none has this name.
  Result<std::uint32_t> find(std::string_view name) const;
  const DeviceInfo& device_info() const { return *device_info_; }

 protected:
  Executable(std::shared_ptr<const DeviceInfo> device_info, std::vector<EntryPoint> entry_points)
      : device_info_(std::move(device_info)), entry_points_(std::move(entry_points)) {}

 private:
  std::shared_ptr<const DeviceInfo> device_info_;
  std::vector<EntryPoint> entry_points_;
};

}  // namespace texloom::hal
