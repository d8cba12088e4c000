// Tests kernels in native code: functions that the program links, and what no loader takes. Objects
// of a compiler are tested where there is one (tests/python/compile/test_llvm_packages.py).
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/drivers/host/driver.h"
#include "runtime/drivers/host/native_objects.h"
#include "support/processor/processor.h"
#include "tests/runtime/opencl_fixture.h"
#include "tests/support/processor/native_object.h"

namespace texloom::hal::host {
namespace {

// Writes to each block's place its number, and a constant.
std::int32_t number_blocks(const void* const* arguments, const std::uint32_t*, std::uint64_t begin,
                           std::uint64_t end) {
  auto* const out = const_cast<std::uint32_t*>(static_cast<const std::uint32_t*>(arguments[0]));
  const auto first = *static_cast<const std::uint32_t*>(arguments[1]);
  for (std::uint64_t i = begin; i < end; ++i) out[i] = first + static_cast<std::uint32_t>(i);
  return 0;
}

std::int32_t no_memory(const void* const*, const std::uint32_t*, std::uint64_t, std::uint64_t) {
  return 1;
}

constexpr std::array<texloom_linked_kernel, 2> kKernels = {
    {{"number_blocks", number_blocks}, {"no_memory", no_memory}}};
constexpr texloom_linked_kernels kLibrary = {"net:1", kKernels.data(), kKernels.size()};

class NativeCodeTest : public DeviceTest {
 protected:
  void SetUp() override {
    driver_ =
        create_driver({.threads = 2, .linked = {&kLibrary}, .loaders = {make_native_loader()}});
    auto device = driver_->open(0);
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    device_ = *device;
  }

  Result<std::shared_ptr<Executable>> make(KernelFormat format, const std::string& code,
                                           EntryPoint entry) const {
    return device_->create_executable(
        {.codes = {{.format = format, .code = code}}, .entry_points = {std::move(entry)}});
  }
  Status refusal(KernelFormat format, const std::string& code, const std::string& name) const {
    return make(format, code, {.name = name, .params = {}}).status();
  }
};

TEST_F(NativeCodeTest, RunsFunctionsThatTheProgramLinks) {
  const auto executable = make(
      KernelFormat::HostFunctions, "net:1",
      {.name = "number_blocks",
       .params = {BufferParam{"out", Access::Write, 60}, ConstantParam{"n", ElementType::UInt32}}});
  ASSERT_TRUE(executable.ok()) << executable.status().to_string();
  const auto out = make_buffer(bytes_of(std::vector<std::uint32_t>(15, 0)));
  const auto commands = device_->create_command_buffer();
  const std::array<Binding, 1> bindings = {BufferBinding{out}};
  const std::array<Constant, 1> constants = {Constant(std::uint32_t{40})};
  TL_ASSERT_OK(commands->dispatch(*executable, 0, {5, 3, 1}, bindings, constants));
  TL_ASSERT_OK(run(commands));
  std::vector<std::uint32_t> expected(15);
  for (std::uint32_t i = 0; i < 15; ++i) expected[i] = 40 + i;
  EXPECT_EQ(values_of<std::uint32_t>(out), expected);
}

TEST_F(NativeCodeTest, ABlockWithoutMemoryEndsTheRun) {
  const auto executable =
      make(KernelFormat::HostFunctions, "net:1", {.name = "no_memory", .params = {}});
  ASSERT_TRUE(executable.ok());
  const auto commands = device_->create_command_buffer();
  TL_ASSERT_OK(commands->dispatch(*executable, 0, {1, 1, 1}, {}, {}));
  EXPECT_THAT(run(commands), fails_with(StatusCode::OutOfMemory, "arrays of a block"));
}

TEST_F(NativeCodeTest, AProgramWithOtherKernelsIsAnError) {
  EXPECT_THAT(refusal(KernelFormat::HostFunctions, "net:2", "number_blocks"),
              fails_with(StatusCode::NotFound, "\"net:2\""));
  EXPECT_THAT(refusal(KernelFormat::HostFunctions, "net:1", "other"),
              fails_with(StatusCode::NotFound, "no function \"other\""));
}

// The process must not end by an instruction that the processor lacks.
TEST_F(NativeCodeTest, ObjectsAreReadBeforeTheyAreLoaded) {
  const auto loads = [&](const std::string& object) {
    return refusal(KernelFormat::NativeObject, object, "kernel");
  };
  EXPECT_THAT(loads("no object"), fails_with(StatusCode::InvalidArgument, "not an ELF object"));
  const std::uint16_t other = processor_architecture() == "x86_64" ? 183 : 62;
  EXPECT_THAT(loads(NativeObjectFile("1 ", other).bytes()),
              fails_with(StatusCode::Unimplemented, "needs a processor of"));
  if (processor_architecture() != "x86_64") return;
  // No processor has both.
  EXPECT_THAT(loads(NativeObjectFile("1 xop,amx-tile").bytes()),
              fails_with(StatusCode::Unimplemented, "of the processor"));
}

TEST_F(NativeCodeTest, TheDeviceNamesWhatCodeMayNeed) {
  const std::vector<std::string>& names = device_->info().extensions;
  EXPECT_EQ(names.front(), processor_architecture());
  EXPECT_EQ(names.size(), 1 + processor_features().size());
}

}  // namespace
}  // namespace texloom::hal::host
