// Tests buffers in shared virtual memory, whose addresses kernels get as arguments.

#include <array>
#include <set>
#include <utility>
#include <vector>

#include "tests/runtime/drivers/opencl/replaced_call_fixture.h"

namespace texloom::hal::opencl {
namespace {

// Uses parts of buffers on a device with NVIDIA's name, on which kernels get the addresses of all
// buffers that textures cannot view.
class AddressesTest : public ReplacedCallTest {
 protected:
  static constexpr BufferUsage kAddressed =
      BufferUsage::Storage | BufferUsage::CopySource | BufferUsage::CopyTarget;
  static constexpr int kFirst = 7;
  // Kernel parameters that got an address; OpenCL then accepts no memory object for them.
  static inline std::set<std::pair<cl_kernel, cl_uint>> addressed;

  void SetUp() override {
    ReplacedCallTest::SetUp();
    if (IsSkipped()) return;
    addressed.clear();
    open_with([](Api& api) {
      pretend_nvidia(api);
      count_calls<&Api::clCreateSubBuffer>(real, api);
      count_calls<&Api::clSVMAlloc>(real, api);
      count_calls<&Api::clSVMFree>(real, api);
      api.clSetKernelArgSVMPointer = [](cl_kernel kernel, cl_uint index,
                                        const void* value) -> cl_int {
        addressed.emplace(kernel, index);
        return real.clSetKernelArgSVMPointer(kernel, index, value);
      };
      api.clSetKernelArg = [](cl_kernel kernel, cl_uint index, std::size_t bytes,
                              const void* value) -> cl_int {
        if (addressed.contains({kernel, index})) return CL_INVALID_KERNEL_ARGS;
        return real.clSetKernelArg(kernel, index, bytes, value);
      };
      api.clReleaseKernel = [](cl_kernel kernel) -> cl_int {
        std::erase_if(addressed, [&](const auto& each) { return each.first == kernel; });
        return real.clReleaseKernel(kernel);
      };
    });
    executable_ = make_executable(kAdvanceSource, advance_entry());
    step_ = device_->info().limits.buffer_offset_alignment;
  }

  std::shared_ptr<Buffer> make(BufferUsage usage) {
    auto buffer = *device_->create_buffer({.bytes = 3 * step_, .usage = usage});
    TL_EXPECT_OK(write_buffer(*device_, buffer, 0,
                              bytes_of(std::vector<int>(3 * step_ / sizeof(int), kFirst))));
    return buffer;
  }
  // Records dispatches on the third part, the second, and the third again.
  std::shared_ptr<CommandBuffer> record(bool reusable, const BindingRef& third,
                                        const BindingRef& second) {
    const auto commands = device_->create_command_buffer({.reusable = reusable});
    for (const BindingRef& part : {third, second, third})
      EXPECT_TRUE(
          commands->dispatch_with_table(executable_, 0, {1, 1, 1}, {{part}}, {{Constant(5)}}).ok());
    TL_EXPECT_OK(commands->finish());
    return commands;
  }
  std::array<BufferBinding, 2> parts_of(const std::shared_ptr<Buffer>& buffer) const {
    return {BufferBinding{buffer, 2 * step_}, BufferBinding{buffer, step_}};
  }
  std::array<int, 3> parts(const std::shared_ptr<Buffer>& buffer) {
    const std::vector<int> values = values_of<int>(buffer);
    return {values[0], values[step_ / sizeof(int)], values[2 * step_ / sizeof(int)]};
  }

  static constexpr std::array kOnce = {kFirst, 3 * kFirst + 5, 9 * kFirst + 20};
  std::shared_ptr<Executable> executable_;
  std::uint64_t step_ = 0;
};

TEST_F(AddressesTest, PartsAreNoObjects) {
  for (const bool reusable : {false, true}) {
    const auto buffer = make(kAddressed);
    const auto parts = parts_of(buffer);
    TL_ASSERT_OK(device_->queue()->run({.commands = {{record(reusable, parts[0], parts[1])}}}));
    EXPECT_EQ(this->parts(buffer), kOnce);
  }
  EXPECT_EQ((calls_of<&Api::clCreateSubBuffer>()), 0);
  EXPECT_EQ((calls_of<&Api::clSVMAlloc>()), 2);
  EXPECT_EQ((calls_of<&Api::clSVMFree>()), 2);
}

TEST_F(AddressesTest, BuffersThatTexturesMayViewHaveNone) {
  for (const bool reusable : {false, true}) {
    for (const BufferUsage usage : {kAddressed, BufferUsage::All, kAddressed}) {
      const auto buffer = make(usage);
      const auto parts = parts_of(buffer);
      TL_ASSERT_OK(device_->queue()->run({.commands = {{record(reusable, parts[0], parts[1])}}}));
      EXPECT_EQ(this->parts(buffer), kOnce);
    }
  }
  EXPECT_EQ((calls_of<&Api::clSVMAlloc>()), 4);
}

TEST_F(AddressesTest, ACommandBufferTakesBothKinds) {
  const auto commands = record(true, BindingSlot{0}, BindingSlot{1});
  for (const BufferUsage usage : {kAddressed, BufferUsage::All, kAddressed}) {
    const auto buffer = make(usage);
    const auto parts = parts_of(buffer);
    TL_ASSERT_OK(device_->queue()->run({.commands = {{commands, {parts[0], parts[1]}}}}));
    EXPECT_EQ(this->parts(buffer), kOnce);
  }
}

}  // namespace
}  // namespace texloom::hal::opencl
