// Makes every Metal call that can fail fail once, while a workload uses most of the driver. The
// error must be returned with Metal's text, or with the name of the call where Metal gives no text.
// The driver must not misuse Metal afterwards, and the same device must complete the next work.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/drivers/metal/driver.h"
#include "runtime/hal/binary_cache.h"
#include "runtime/hal/device.h"
#include "runtime/hal/transfer.h"
#include "tests/runtime/bytes.h"
#include "tests/runtime/status_matchers.h"
#include "tests/softmetal/api/classes/checks/faults.h"
#include "tests/softmetal/api/classes/checks/validation.h"
#include "tests/softmetal/compile/scratch_folder.h"

namespace texloom::hal::metal {
namespace {

constexpr const char* kSource = R"(
#include <metal_stdlib>
using namespace metal;
kernel void twice(device const float4* in [[buffer(0)]], device float4* out [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  out[i] = 2.0f * in[i];
}
struct Table { device const float4* in [[id(0)]]; device float4* out [[id(1)]]; };
kernel void twice_by_address(constant Table& table [[buffer(0)]],
                             uint i [[thread_position_in_grid]]) {
  table.out[i] = 2.0f * table.in[i];
}
)";

// The device, and whether its work is profiled.
struct Tested {
  std::size_t ordinal;
  bool has_profile;
};

// Opens a device and uses it. Each object is kept, so that the device can be used again.
class Workload {
 public:
  explicit Workload(const Tested& tested) : tested_(tested) {}

  Status run() {
    TL_RETURN_IF_ERROR(open());
    TL_RETURN_IF_ERROR(compute());
    TL_RETURN_IF_ERROR(replay());
    TL_RETURN_IF_ERROR(move_texels());
    TL_RETURN_IF_ERROR(map());
    return order_queues();
  }
  // Runs more work after a fault, if the device could be opened.
  Status run_next() {
    if (device_ == nullptr) return {};
    TL_ASSIGN_OR_RETURN(const auto buffer, device_->create_buffer({.bytes = 64}));
    const Bytes data = random_bytes(64, 3);
    TL_RETURN_IF_ERROR(write_buffer(*device_, buffer, 0, data));
    Bytes read(64);
    TL_RETURN_IF_ERROR(read_buffer(*device_, buffer, 0, read));
    EXPECT_EQ(read, data);
    return {};
  }

 private:
  Status open() {
    if (device_ != nullptr) return {};
    const auto cache = std::make_shared<BinaryCache>(BinaryCacheOptions{.folder = folder_.path()});
    TL_ASSIGN_OR_RETURN(const std::shared_ptr<Driver> driver,
                        create_driver({.binary_cache = cache}));
    DeviceOptions options;
    if (tested_.has_profile) options.profile = std::make_shared<Profile>();
    TL_ASSIGN_OR_RETURN(device_, driver->open(tested_.ordinal, options));
    return {};
  }

  static ExecutableDesc describe(const std::string& kernel) {
    return {.codes = {{.format = KernelFormat::Msl, .code = kSource}},
            .entry_points = {{.name = kernel,
                              .params = {BufferParam{.name = "in", .access = Access::Read},
                                         BufferParam{.name = "out", .access = Access::Write}}}}};
  }

  // A dispatch between an update and a readback.
  Status compute() {
    const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8};
    std::vector<float> results(values.size());
    const std::uint64_t bytes = values.size() * sizeof(float);
    TL_ASSIGN_OR_RETURN(const auto in, device_->create_buffer({.bytes = bytes}));
    TL_ASSIGN_OR_RETURN(const auto out, device_->create_buffer({.bytes = bytes}));
    const ExecutableDesc desc = describe("twice");
    // The second executable comes from the archive that the first one stored.
    TL_RETURN_IF_ERROR(device_->create_executable(desc).status());
    TL_ASSIGN_OR_RETURN(const auto executable, device_->create_executable(desc));
    const auto commands = device_->create_command_buffer();
    TL_RETURN_IF_ERROR(commands->update(in, 0, std::as_bytes(std::span(values))));
    TL_RETURN_IF_ERROR(commands->barrier());
    const std::array<Binding, 2> bindings = {BufferBinding{.buffer = in},
                                             BufferBinding{.buffer = out}};
    TL_RETURN_IF_ERROR(commands->dispatch(executable, 0, {2, 1, 1}, bindings, {}));
    TL_RETURN_IF_ERROR(commands->barrier());
    TL_RETURN_IF_ERROR(commands->readback(out, 0, std::as_writable_bytes(std::span(results))));
    TL_RETURN_IF_ERROR(run_and_wait(*device_, commands));
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(results[i], 2 * values[i]);
    return {};
  }

  // Indirect commands, twice.
  Status replay() {
    const std::array<float, 4> values = {1, 2, 3, 4};
    TL_ASSIGN_OR_RETURN(const auto executable,
                        device_->create_executable(describe("twice_by_address")));
    std::array<std::shared_ptr<Buffer>, 5> buffers;
    for (auto& each : buffers) {
      TL_ASSIGN_OR_RETURN(each, device_->create_buffer({.bytes = sizeof values}));
    }
    TL_RETURN_IF_ERROR(write_buffer(*device_, buffers[0], 0, std::as_bytes(std::span(values))));
    const auto commands = device_->create_command_buffer({.reusable = true});
    for (std::size_t i = 0; i + 1 < buffers.size(); ++i) {
      const std::array<Binding, 2> bindings = {BufferBinding{.buffer = buffers[i]},
                                               BufferBinding{.buffer = buffers[i + 1]}};
      TL_RETURN_IF_ERROR(commands->dispatch(executable, 0, {1, 1, 1}, bindings, {}));
    }
    TL_RETURN_IF_ERROR(commands->finish());
    for (int submission = 0; submission < 2; ++submission)
      TL_RETURN_IF_ERROR(device_->queue()->run({.commands = {commands}}));
    std::array<float, 4> results = {};
    TL_RETURN_IF_ERROR(
        read_buffer(*device_, buffers.back(), 0, std::as_writable_bytes(std::span(results))));
    EXPECT_EQ(results, (std::array<float, 4>{16, 32, 48, 64}));
    return {};
  }

  // Copies and fills, with blits and with kernels.
  Status move_texels() {
    constexpr Extent2D kExtent{5, 3};
    TL_ASSIGN_OR_RETURN(
        const auto texture,
        device_->create_texture({.extent = kExtent, .format = TexelFormat::Rgba8UInt}));
    TL_ASSIGN_OR_RETURN(const auto buffer, device_->create_buffer({.bytes = 4096}));
    TL_ASSIGN_OR_RETURN(
        const auto view,
        device_->allocator()->create_view(
            buffer, {.texture = {.extent = kExtent, .format = TexelFormat::Rgba8UInt}}));
    const auto commands = device_->create_command_buffer();
    const std::array pattern = {std::byte{1}, std::byte{2}};
    TL_RETURN_IF_ERROR(commands->fill(buffer, 0, 4096, std::span(pattern).first(1)));
    TL_RETURN_IF_ERROR(commands->barrier());
    TL_RETURN_IF_ERROR(commands->fill(buffer, 1, 21, pattern));
    TL_RETURN_IF_ERROR(commands->barrier());
    // Blits refuse this row pitch, so a kernel copies.
    TL_RETURN_IF_ERROR(commands->copy_buffer_to_texture(
        buffer, texture, {.extent = kExtent, .buffer_offset = 1, .row_pitch = 23}));
    TL_RETURN_IF_ERROR(commands->barrier());
    TL_RETURN_IF_ERROR(commands->copy_texture(texture, {}, view, {}, kExtent));
    TL_RETURN_IF_ERROR(run_and_wait(*device_, commands));
    Bytes texels(4 * 5 * 3);
    TL_RETURN_IF_ERROR(read_texture(*device_, texture, {.extent = kExtent}, texels));
    EXPECT_EQ(texels[0], std::byte{1});
    EXPECT_EQ(texels[1], std::byte{2});
    EXPECT_EQ(texels[59], std::byte{1});
    return {};
  }

  Status map() {
    const bool has_managed =
        device_->info().memory_kinds[static_cast<std::size_t>(MemoryKind::Managed)].available;
    const MemoryKind kind = has_managed ? MemoryKind::Managed : MemoryKind::Shared;
    TL_ASSIGN_OR_RETURN(const auto buffer, device_->create_buffer({.bytes = 64, .memory = kind}));
    const auto commands = device_->create_command_buffer();
    const std::array pattern = {std::byte{7}};
    TL_RETURN_IF_ERROR(commands->fill(buffer, 0, 64, pattern));
    TL_RETURN_IF_ERROR(run_and_wait(*device_, commands));
    for (const std::uint64_t bytes : {64, 3}) {
      TL_ASSIGN_OR_RETURN(Mapping mapping, buffer->map(0, bytes, Access::Read));
      EXPECT_EQ(mapping.bytes()[2], std::byte{7});
      TL_RETURN_IF_ERROR(mapping.release());
    }
    return {};
  }

  // One queue waits for a semaphore that another queue signals.
  Status order_queues() {
    TL_ASSIGN_OR_RETURN(const auto second, device_->create_queue());
    TL_ASSIGN_OR_RETURN(const auto semaphore, device_->create_semaphore());
    TL_RETURN_IF_ERROR(device_->queue()->submit(Submission{.signals = {{semaphore, 1}}}));
    const Status status = second->run({.waits = {{semaphore, 1}}});
    const Status first = device_->queue()->wait_idle();
    return first.ok() ? status : first;
  }

  Tested tested_;
  softmetal::ScratchFolder folder_;  // of the binary cache
  std::shared_ptr<Device> device_;
};

// Calls whose failure is no error: allocations are retried, and heaps, archives, samples and
// residency sets are optional.
constexpr std::array<std::string_view, 10> kMayFail = {"newBufferWithLength",
                                                       "newIndirectCommandBuffer",
                                                       "newTextureWithDescriptor",
                                                       "newHeapWithDescriptor",
                                                       "newBinaryArchiveWithDescriptor",
                                                       "addComputePipelineFunctionsWithDescriptor",
                                                       "serializeToURL",
                                                       "newCounterSampleBufferWithDescriptor",
                                                       "resolveCounterRange",
                                                       "newResidencySetWithDescriptor"};
constexpr std::string_view kPipeline = "newComputePipelineState";

class FaultInjection : public ::testing::TestWithParam<Tested> {
 protected:
  void SetUp() override {
    before_ = softmetal::set_misuse_hook([this](const std::string& text) {
      const std::scoped_lock lock(mutex_);
      misuses_.push_back(text);
    });
  }
  void TearDown() override { softmetal::set_misuse_hook(before_); }

  // Expects Metal's text, or the name of the call without its arguments, in the error.
  void expect_words(const std::string& call, const Status& status) {
    const std::string name = call.substr(0, call.find(':'));
    if (status.ok()) {
      if (name == kPipeline)
        ++compiled_again_;
      else
        EXPECT_NE(std::ranges::find(kMayFail, name), kMayFail.end()) << name;
      return;
    }
    const std::string& text = status.message();
    EXPECT_TRUE(text.find(softmetal::kFaultText) != std::string::npos ||
                text.find(name) != std::string::npos)
        << status.to_string();
  }

  softmetal::MisuseHook before_;
  std::mutex mutex_;
  std::vector<std::string> misuses_;
  int compiled_again_ = 0;
};

TEST_P(FaultInjection, EachCallFailsInTurn) {
  softmetal::fail_call(0);
  {
    Workload workload(GetParam());
    TL_ASSERT_OK(workload.run());
  }
  const std::uint64_t calls = softmetal::calls_that_may_fail();
  EXPECT_GT(calls, 30U);
  std::map<std::string, int> failed;
  for (std::uint64_t call = 1; call <= calls; ++call) {
    Workload workload(GetParam());
    softmetal::fail_call(call);
    const Status status = workload.run();
    const std::string name = softmetal::failed_call();
    softmetal::fail_call(0);
    SCOPED_TRACE("call " + std::to_string(call) + ", " + name);
    ++failed[name];
    expect_words(name, status);
    TL_EXPECT_OK(workload.run_next());
  }
  EXPECT_EQ(misuses_, std::vector<std::string>());
  EXPECT_EQ(compiled_again_, 2)
      << "the pipeline that is taken out of an archive, and that for indirect commands";
  for (const auto& [name, count] : failed) RecordProperty(name, count);
  EXPECT_GE(failed.size(), 14U);
}

INSTANTIATE_TEST_SUITE_P(Devices, FaultInjection,
                         ::testing::Values(Tested{0, false}, Tested{1, false}, Tested{0, true},
                                           Tested{1, true}));

}  // namespace
}  // namespace texloom::hal::metal
