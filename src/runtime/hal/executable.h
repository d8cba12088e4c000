// Kernels built from source or a binary, with a description of each kernel's parameters.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/hal/binary_key.h"
#include "runtime/hal/device_info.h"
#include "runtime/hal/grid.h"
#include "runtime/hal/residency.h"
#include "runtime/hal/types.h"
#include "support/kernel_format.h"
#include "support/status.h"

namespace texloom::hal {

struct BufferParam {
  std::string name;
  Access access = Access::Read;
  // The number of bytes that the kernel touches from the bound offset on; 0: everything that is
  // bound. If this is 0 and the kernel writes this parameter or another one, the two must not share
  // a buffer, except as disjoint subspans.
  std::uint64_t min_bytes = 0;

  bool operator==(const BufferParam&) const = default;
};

// How a kernel gets the origin of a tensor in a texture. With Zero, the kernel is specialized for
// origin (0, 0), and any other origin is refused. With Constants, two of the kernel's constants are
// the origin.
enum class TextureOrigin : std::uint8_t { Zero, Constants };

struct TextureParam {
  std::string name;
  TexelFormat format = TexelFormat::Rgba32Float;
  Access access = Access::Read;  // ReadWrite is refused
  // The extent that the kernel touches from the bound origin on; {}: the whole texture.
  Extent2D min_extent = {};
  TextureOrigin origin = TextureOrigin::Zero;

  bool operator==(const TextureParam&) const = default;
};

// A scalar passed by value: a type of 32 or 64 bits.
struct ConstantParam {
  std::string name;
  ElementType type = ElementType::Int32;

  bool operator==(const ConstantParam&) const = default;
};

// Memory of a work group that is a parameter of the kernel: `__local` in OpenCL C, `threadgroup` in
// Metal's language. A dispatch passes no argument for it. Memory that a kernel declares in its body
// is not listed.
struct LocalParam {
  std::string name;
  std::uint64_t bytes = 0;  // a multiple of 16

  bool operator==(const LocalParam&) const = default;
};

using KernelParam = std::variant<BufferParam, TextureParam, ConstantParam, LocalParam>;
std::string_view name_of(const KernelParam& param);
// Whether the parameter is a buffer or a texture, for which a dispatch passes a binding.
inline bool is_bound(const KernelParam& param) {
  return std::holds_alternative<BufferParam>(param) || std::holds_alternative<TextureParam>(param);
}
// The access of a buffer or texture parameter.
inline Access access_of(const KernelParam& param) {
  const auto* texture = std::get_if<TextureParam>(&param);
  return texture != nullptr ? texture->access : std::get<BufferParam>(param).access;
}
// The total size of all LocalParams.
std::uint64_t local_bytes(std::span<const KernelParam> params);
// "a buffer", "a texture rgba32float", "a constant int32", "local memory"
std::string describe(const KernelParam& param);

struct EntryPoint {
  std::string name;
  std::vector<KernelParam> params;  // in the order of the kernel's arguments
  std::array<std::uint32_t, 3> workgroup_size = {1, 1, 1};
  // Gives the number of work groups for CommandBuffer::dispatch_workload.
  std::optional<Grid> grid = {};

  bool operator==(const EntryPoint&) const = default;
};

// The number of work groups of an entry point for a workload. InvalidArgument, besides the errors
// of groups_of() in hal/grid.h: the entry point has no grid, or the workload has the wrong count of
// numbers.
Result<std::array<std::uint32_t, 3>> groups_of(const EntryPoint& entry,
                                               std::span<const std::int64_t> workload);

std::string_view to_string(KernelFormat format);  // "OpenCL C", …

struct KernelCode {
  KernelFormat format = KernelFormat::OpenClC;
  std::string code = {};
  std::vector<std::string> build_options = {};  // for the compiler of this format
  // Of a binary that Executable::binary() returned, to stand beside its source: it is used only on
  // the device and with the driver that made it, for the program that its key names.
  std::optional<BinaryOrigin> origin = {};

  bool operator==(const KernelCode&) const = default;
};

// A set of permissions: how a device's compiler may change floating-point results beyond what the
// code itself leaves open.
enum class MathMode : std::uint8_t {
  Strict = 0,
  Contract = 1,           // fuse products and sums into one operation, with any rounding
  IgnoreSignedZeros = 2,  // -0 and +0 are the same
  FlushDenormals = 4,     // numbers below the smallest normal one become zero
  AssumeFinite = 8,       // inputs and results are neither NaN nor infinite
  // Transforms expressions as real numbers, and uses less accurate functions.
  Reassociate = 16 | Contract | IgnoreSignedZeros,
  Fast = Reassociate | FlushDenormals | AssumeFinite,
};
constexpr MathMode operator|(MathMode a, MathMode b) {
  return static_cast<MathMode>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
// Whether `mode` includes everything in `wanted`.
constexpr bool allows(MathMode mode, MathMode wanted) { return (mode | wanted) == mode; }

enum class BuildTime : std::uint8_t {
  Creation,  // in create_executable, which returns the errors of building
  FirstUse,  // in the first prepare() or submission, which returns the errors of building
};

struct ExecutableDesc {
  // The same entry points in several formats; a driver uses the first format that it supports.
  // The Metal driver prefers a metallib to MSL, and takes the MSL if the metallib cannot be loaded.
  // The OpenCL driver prefers a binary with a matching origin to the source, and takes the source
  // if the binary cannot be loaded.
  std::vector<KernelCode> codes;
  std::vector<EntryPoint> entry_points;
  MathMode math = MathMode::Strict;
  BuildTime build = BuildTime::Creation;
  // Build from the source even if there is a binary, in the cache or beside the source, and share
  // nothing with other executables. For Executable::binary(): an implementation may return the
  // binary that a program was loaded from, or the one that it returned first.
  bool builds_anew = false;
};

// Whether the device's driver prepares code of this format and, if it has one, of this origin.
bool is_prepared(const KernelCode& code, const DeviceInfo& device);
// "OpenCL C", "an OpenCL binary for Adreno (TM) 740 with version 1.2 of its driver"
std::string describe(const KernelCode& code);

// The first code that the device's driver prepares; one without an origin if there is any. If there
// is none, Unimplemented, naming the codes and the formats of the driver.
Result<const KernelCode*> select_code(const ExecutableDesc& desc, const DeviceInfo& device);

// Compiled kernels, made by Device::create_executable. Building checks the entry points against the
// device's limits and the compiled kernels. Thread safe. Ownership is as for Buffer.
class Executable : public Resident {
 public:
  virtual ~Executable() = default;
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  const std::vector<EntryPoint>& entry_points() const { return entry_points_; }
  // The index of the entry point with this name. NotFound, listing the known names, if there is
  // none.
  Result<std::uint32_t> find(std::string_view name) const;
  const DeviceInfo& device_info() const { return *device_info_; }

  // Builds the executable if that has not been done yet; waits if another thread is building it.
  // Building is tried only once: later calls return the same error. The errors are those of
  // Device::create_executable. A driver calls this before it uses an executable of a command
  // buffer.
  Status prepare() { return is_ready_.load(std::memory_order_acquire) ? Status() : build_once(); }

  // Builds the executable, and returns the binary that the driver gives back, with its origin, to
  // be stored beside the source. The errors of prepare(); Unimplemented if the driver gives no
  // binary back, or if there is no source.
  Result<KernelCode> binary();

 protected:
  Executable(std::shared_ptr<const DeviceInfo> device_info, std::vector<EntryPoint> entry_points)
      : device_info_(std::move(device_info)), entry_points_(std::move(entry_points)) {}

  // Called at most once.
  virtual Status build() = 0;
  // Called after a successful build.
  virtual Result<KernelCode> built_binary() const;
  Status bring_in() override { return prepare(); }

 private:
  Status build_once();

  std::shared_ptr<const DeviceInfo> device_info_;
  std::vector<EntryPoint> entry_points_;
  std::atomic<bool> is_ready_ = false;
  std::mutex building_;
  bool was_tried_ = false;  // guarded by building_, like failure_
  Status failure_;
};

}  // namespace texloom::hal
