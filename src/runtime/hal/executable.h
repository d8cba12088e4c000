// Kernels made from source or a binary, with the table of what each takes.
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

#include "runtime/hal/device_info.h"
#include "runtime/hal/grid.h"
#include "runtime/hal/residency.h"
#include "runtime/hal/types.h"
#include "support/status.h"

namespace texloom::hal {

struct BufferParam {
  std::string name;
  Access access = Access::Read;
  // The bytes that the kernel touches from the bound offset on. 0: all that is bound; then two
  // parameters of which one is written must not share a buffer, except for subspans.
  std::uint64_t min_bytes = 0;
};

// Whether a kernel adds an origin to its coordinates. With Zero it is specialized for a tensor at
// (0, 0), and any other origin is refused; with Constants two constants of the kernel hold it.
enum class TextureOrigin : std::uint8_t { Zero, Constants };

struct TextureParam {
  std::string name;
  TexelFormat format = TexelFormat::Rgba32Float;
  Access access = Access::Read;  // ReadWrite is refused
  // The texels that the kernel touches from the bound origin on, in both axes; {}: the whole
  // texture.
  Extent2D min_extent = {};
  TextureOrigin origin = TextureOrigin::Zero;
};

// A scalar passed by value: a type of 32 or 64 bits.
struct ConstantParam {
  std::string name;
  ElementType type = ElementType::Int32;
};

// Memory of each work group, which the kernel takes as an argument: `__local` in OpenCL C,
// `threadgroup` in Metal's language. A dispatch passes nothing for it. Memory that a kernel
// declares in its body is not listed.
struct LocalParam {
  std::string name;
  std::uint64_t bytes = 0;  // a multiple of 16
};

using KernelParam = std::variant<BufferParam, TextureParam, ConstantParam, LocalParam>;
std::string_view name_of(const KernelParam& param);
// Whether it is a buffer or a texture, for which a dispatch gives a binding.
inline bool is_bound(const KernelParam& param) {
  return std::holds_alternative<BufferParam>(param) || std::holds_alternative<TextureParam>(param);
}
// For a buffer or a texture.
inline Access access_of(const KernelParam& param) {
  const auto* texture = std::get_if<TextureParam>(&param);
  return texture != nullptr ? texture->access : std::get<BufferParam>(param).access;
}
// The sum over all LocalParams.
std::uint64_t local_bytes(std::span<const KernelParam> params);
// "a buffer", "a texture rgba32float", "a constant int32", "local memory"
std::string describe(const KernelParam& param);

struct EntryPoint {
  std::string name;
  std::vector<KernelParam> params;  // in the order of the kernel's arguments
  std::array<std::uint32_t, 3> workgroup_size = {1, 1, 1};
  // The work groups of CommandBuffer::dispatch_workload.
  std::optional<Grid> grid = {};
};

// The work groups of an entry point for a workload. InvalidArgument, beside what groups_of() of
// hal/grid.h says: an entry point without a grid, or another count of numbers than it takes.
Result<std::array<std::uint32_t, 3>> groups_of(const EntryPoint& entry,
                                               std::span<const std::int64_t> workload);

// The language or format of an executable's code.
enum class KernelFormat : std::uint8_t {
  OpenClC,
  OpenClBinary,   // of one device and one version of its driver
  Msl,            // Metal's language
  HostFunctions,  // functions of the process: the name of a library (drivers/host/host_functions.h)
  Ir,             // the compiler's text form
};
std::string_view to_string(KernelFormat format);  // "OpenCL C", …

struct KernelCode {
  KernelFormat format = KernelFormat::OpenClC;
  std::string code = {};
  std::vector<std::string> build_options = {};  // of the compiler of this format
};

// How a device's compiler may change floating-point results beyond what the code itself leaves
// open: a set of permissions.
enum class MathMode : std::uint8_t {
  Strict = 0,
  Contract = 1,           // products and sums become one operation, of whatever rounding
  IgnoreSignedZeros = 2,  // -0 and +0 are the same
  FlushDenormals = 4,     // numbers below the smallest normal one are zero
  AssumeFinite = 8,       // no NaN and no infinity comes in or out
  Reassociate = 16 | Contract | IgnoreSignedZeros,  // as if numbers were real; functions less exact
  Fast = Reassociate | FlushDenormals | AssumeFinite,
};
constexpr MathMode operator|(MathMode a, MathMode b) {
  return static_cast<MathMode>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
// Whether `mode` includes everything in `wanted`.
constexpr bool allows(MathMode mode, MathMode wanted) { return (mode | wanted) == mode; }

enum class BuildTime : std::uint8_t {
  Creation,  // by create_executable, which returns the errors of building
  FirstUse,  // by the first prepare() or submission: the errors are its own
};

struct ExecutableDesc {
  // The same entry points for several drivers, each of which takes the first that it understands.
  std::vector<KernelCode> codes;
  std::vector<EntryPoint> entry_points;
  MathMode math = MathMode::Strict;
  BuildTime build = BuildTime::Creation;
};

// The code that a driver which understands these formats takes. Unimplemented, naming the formats
// on both sides, when there is none.
Result<const KernelCode*> select_code(const ExecutableDesc& desc,
                                      std::span<const KernelFormat> understood,
                                      std::string_view driver);

// Made by Device::create_executable. Building it checks the entry points against the device's
// limits and the compiled kernels. Thread safe. Ownership: as for Buffer.
class Executable : public Resident {
 public:
  virtual ~Executable() = default;
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  const std::vector<EntryPoint>& entry_points() const { return entry_points_; }
  // NotFound, with the names there are, when none has this name.
  Result<std::uint32_t> find(std::string_view name) const;
  const DeviceInfo& device_info() const { return *device_info_; }

  // Builds it unless that has been done; waits while another thread does. It is tried once: each
  // later call returns the same error (those of Device::create_executable). A driver calls this
  // before it uses an executable of a command buffer.
  Status prepare() { return is_ready_.load(std::memory_order_acquire) ? Status() : build_once(); }

 protected:
  Executable(std::shared_ptr<const DeviceInfo> device_info, std::vector<EntryPoint> entry_points)
      : device_info_(std::move(device_info)), entry_points_(std::move(entry_points)) {}

  // Called once at most, by one thread.
  virtual Status build() = 0;
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
