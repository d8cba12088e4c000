// Fixtures of the conformance suite: a device under test, its objects, and expectations.
//
// A suite is a fixture derived from On<…> plus one line TL_ON_EVERY_DEVICE(Suite, …). Its tests run
// on each device, for each value of the further parameters.
//
//   class Fills : public On<std::size_t> {};
//   TL_ON_EVERY_DEVICE(Fills, ::testing::Values(1, 2, 4));
//   TEST_P(Fills, …) { … parameter<0>() … }
#pragma once

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "runtime/hal/device.h"
#include "runtime/hal/semaphore.h"
#include "runtime/hal/transfer.h"
#include "tests/conformance/excluded_run.h"
#include "tests/conformance/kernels.h"
#include "tests/conformance/tested_driver.h"
#include "tests/runtime/bytes.h"
#include "tests/runtime/status_matchers.h"

namespace texloom::hal {
inline void PrintTo(TexelFormat format, std::ostream* stream) { *stream << to_string(format); }
inline void PrintTo(const Extent2D& extent, std::ostream* stream) {
  *stream << extent.width << 'x' << extent.height;
}
}  // namespace texloom::hal

namespace texloom::hal::conformance {

inline constexpr std::byte kSentinel{0xa5};

inline std::vector<std::int32_t> counting(std::size_t count, std::int32_t from = 0) {
  std::vector<std::int32_t> values(count);
  std::iota(values.begin(), values.end(), from);
  return values;
}

// How a dispatch gets its buffers and textures: when it is recorded, or in the table of the
// submission.
enum class BindingStyle { Direct, Table };
inline void PrintTo(BindingStyle style, std::ostream* stream) {
  *stream << (style == BindingStyle::Direct ? "direct" : "table");
}

// An open device with its executables, shared by the tests of the process.
struct OpenDevice {
  std::shared_ptr<Device> device;
  std::vector<std::pair<std::string, std::shared_ptr<Executable>>> executables;
};
// Returns the device of `tested`; the first call opens it.
Result<OpenDevice*> open_shared(const TestedDevice& tested);
void close_shared();

class DeviceFixture : public ::testing::Test {
 protected:
  DeviceFixture() = default;

  void set_up(const TestedDevice& tested);
  void TearDown() override;

  Device& device() { return *device_; }
  Queue& queue() { return *device_->queue(); }
  const DeviceInfo& info() const { return device_->info(); }
  const DeviceLimits& limits() const { return device_->info().limits; }
  const TestedDriver& tested() const { return *tested_->tested; }
  // Whether the driver computes, so that contents can be checked.
  bool computes() const { return tested().computes; }
  // Opens the same device again, for this test only.
  std::shared_ptr<Device> open_another(const DeviceOptions& options = {}) const;
  void use(std::shared_ptr<Device> device);  // instead of the shared device

  std::shared_ptr<Buffer> make_buffer(std::uint64_t bytes, BufferUsage usage = BufferUsage::All);
  std::shared_ptr<Buffer> make_buffer(std::span<const std::byte> content);
  std::shared_ptr<Texture> make_texture(Extent2D extent,
                                        TexelFormat format = TexelFormat::Rgba32Float,
                                        TextureUsage usage = TextureUsage::All);
  std::shared_ptr<Texture> make_texture(Extent2D extent, TexelFormat format,
                                        std::span<const std::byte> content);
  // Fills the texture with one byte value; 0xff makes every float channel a NaN.
  std::shared_ptr<Texture> make_texture_full_of(std::byte value, Extent2D extent,
                                                TexelFormat format);
  std::shared_ptr<Semaphore> make_semaphore(std::uint64_t value = 0);
  std::shared_ptr<CommandBuffer> begin() { return device_->create_command_buffer(); }
  std::shared_ptr<CommandBuffer> begin_reusable() {
    return device_->create_command_buffer({.reusable = true});
  }
  // Returns an executable of the entry points; cached for all tests while the shared device is
  // used.
  std::shared_ptr<Executable> executable(const std::vector<EntryPoint>& entries);
  std::shared_ptr<Executable> executable(const EntryPoint& entry) {
    return executable(std::vector{entry});
  }

  // Finishes, submits and waits.
  Status run(const std::shared_ptr<CommandBuffer>& commands);

  Bytes content_of(const std::shared_ptr<Buffer>& buffer);
  Bytes content_of(const std::shared_ptr<Texture>& texture);
  // All comparisons of contents call this function. Does nothing if the driver does not compute.
  void expect_bytes(std::span<const std::byte> actual, std::span<const std::byte> expected,
                    const std::string& what = "");
  template <typename Object>
  void expect_content(const std::shared_ptr<Object>& object, std::span<const std::byte> expected,
                      const std::string& what = "") {
    expect_bytes(content_of(object), expected, what);
  }
  template <typename T, typename Object>
  void expect_values(const std::shared_ptr<Object>& object, const std::vector<T>& expected,
                     const std::string& what = "") {
    const Bytes bytes = content_of(object);
    if (!computes()) return;
    std::vector<T> values(bytes.size() / sizeof(T));
    std::copy_n(bytes.begin(), values.size() * sizeof(T), writable_bytes_of(values).begin());
    EXPECT_EQ(values, expected) << what;
  }

 private:
  const TestedDevice* tested_ = nullptr;
  OpenDevice* shared_ = nullptr;
  std::shared_ptr<Device> device_;
  std::unique_ptr<ExcludedRun> excluded_;
};

template <typename... Parameters>
class On : public DeviceFixture,
           public ::testing::WithParamInterface<std::tuple<const TestedDevice*, Parameters...>> {
 protected:
  void SetUp() override { this->set_up(*std::get<0>(this->GetParam())); }
  template <std::size_t I>
  const auto& parameter() const {
    return std::get<I + 1>(this->GetParam());
  }
};

// Dispatches with each binding style.
class DispatchFixture : public On<BindingStyle> {
 protected:
  // Records a dispatch of the executable's entry point.
  Status dispatch(CommandBuffer& commands, const std::shared_ptr<Executable>& executable,
                  std::array<std::uint32_t, 3> groups, const std::vector<Binding>& bindings,
                  const std::vector<Constant>& constants = {}, std::uint32_t entry_point = 0);
  // Adds the table for command buffers recorded by dispatch().
  SubmittedCommands with_table(const std::shared_ptr<CommandBuffer>& commands);
  Status start(const std::shared_ptr<CommandBuffer>& commands);  // finishes and submits
  Status run(const std::shared_ptr<CommandBuffer>& commands);    // also waits

  // Runs a single dispatch and returns the error of recording or submitting it, depending on which
  // of them checks bindings.
  Status attempt(const std::shared_ptr<Executable>& executable, std::array<std::uint32_t, 3> groups,
                 const std::vector<Binding>& bindings, const std::vector<Constant>& constants = {},
                 std::uint32_t entry_point = 0);

 private:
  std::map<const CommandBuffer*, std::vector<Binding>> tables_;
};

std::vector<const TestedDevice*> every_device();

// Returns a name such as "opencl_rgba8int_direct".
template <typename Tuple>
std::string name_of_instance(const ::testing::TestParamInfo<Tuple>& info) {
  return std::apply(
      [](const TestedDevice* device, const auto&... parameters) {
        std::string name = device->label;
        ((name += "_" + ::testing::PrintToString(parameters)), ...);
        for (char& c : name)
          if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
        return name;
      },
      info.param);
}

// Further arguments are parameter generators, such as ::testing::Values.
#define TL_ON_EVERY_DEVICE(Suite, ...)                                                             \
  INSTANTIATE_TEST_SUITE_P(                                                                        \
      , Suite, ::testing::Combine(::testing::ValuesIn(every_device()) __VA_OPT__(, ) __VA_ARGS__), \
      [](const auto& parameter_info) { return name_of_instance(parameter_info); })
#define TL_ON_EVERY_DEVICE_WITH_EVERY_BINDING(Suite) \
  TL_ON_EVERY_DEVICE(Suite, ::testing::Values(BindingStyle::Direct, BindingStyle::Table))

}  // namespace texloom::hal::conformance
