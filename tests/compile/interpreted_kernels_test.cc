// Tests kernels that the driver `host` runs in the reference interpreter: their results, which are
// compared with OpenCL's, and their faults.
#include "compile/interpreted_kernels.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "compile/compile.h"
#include "compile/launch_plan.h"
#include "ir/text/parse.h"
#include "runtime/drivers/host/driver.h"
#include "runtime/executor/device_program.h"
#include "tests/runtime/opencl_fixture.h"

namespace texloom::compile {
namespace {

using hal::Binding;
using hal::BufferBinding;
using hal::BufferParam;
using hal::Constant;
using hal::ConstantParam;
using hal::fails_with;

using hal::TextureBinding;

// A chain through a texture, with a loop around a launch, shared memory with a barrier, and an
// argument with an origin in a larger image.
constexpr std::string_view kTextures = R"(program main stage=kernels
  param A: global float32[32]
  param O: texture2d<float16>[2, 8] 2 x 2 texels, texture[(d0, d1) -> rows=(d0), cols=(d1/4), lanes=(d1%4)], origin=(ox, oy)
  param B: global float32[32]
  texture2d.alloca T: texture2d<float32>[8, 4] 1 x 8 texels, texture[(d0, d1) -> rows=(d0), cols=(d1/4), lanes=(d1%4)]
  launch fill(A, T) grid=(2, 1, 1) block=(4, 1, 1)
  for step < 3 {
    launch add(T, O, ox, oy, B, step) grid=(8, 1, 1) block=(1, 1, 1)
  }
  texture2d.free T

kernel fill grid=(2, 1, 1) block=(4, 1, 1)
  param A: read global float32[32]
  param T: write texture2d<float32>[8, 4] 1 x 8 texels, texture[(d0, d1) -> rows=(d0), cols=(d1/4), lanes=(d1%4)]
  axis bx = blockIdx.x < 2
  axis tx = threadIdx.x < 4
  buffer.alloca S: shared float32[4]
  S[tx] = A[bx * 16 + tx]
  barrier
  texture2d.store(T, x=0, y=bx * 4 + tx, A[ramp(bx * 16 + tx * 4, 1, 4)] + x4(S[3 - tx]): float32x4)

kernel add grid=(8, 1, 1) block=(1, 1, 1)
  param T: read texture2d<float32>[8, 4] 1 x 8 texels, texture[(d0, d1) -> rows=(d0), cols=(d1/4), lanes=(d1%4)]
  param O: read texture2d<float16>[2, 8] 2 x 2 texels, texture[(d0, d1) -> rows=(d0), cols=(d1/4), lanes=(d1%4)], origin=(ox, oy)
  param ox: int32
  param oy: int32
  param B: read_write global float32[32]
  param step: int32 < 3
  axis bx = blockIdx.x < 8
  let texel: float32x4 = texture2d.load(T, x=0, y=bx: float32x4)
  let half: float16x4 = texture2d.load(O, x=ox + floormod(bx, 2), y=oy + 1: float16x4)
  unrolled i < 4 {
    B[bx * 4 + i] = fma(texel.lane[i], float32(step), B[bx * 4 + i] + float32(half.lane[i]))
  }
)";

// An array whose size is known only at the call.
constexpr std::string_view kSymbolic = R"(program main stage=kernels
  symbol n: int32
  param X: global int32[n]
  param Y: global int32[n]
  launch twice(X, Y, n) grid=(n, 1, 1) block=(1, 1, 1)

kernel twice grid=(n, 1, 1) block=(1, 1, 1)
  param X: read global int32[n]
  param Y: write global int32[n]
  param n: int32
  axis i = blockIdx.x < n
  Y[i] = X[i] * 2 + n
)";

constexpr std::string_view kAdd = R"(program main stage=kernels
  param X: global float32[8]
  param Y: global float32[8]
  launch add(X, Y) grid=(8, 1, 1) block=(1, 1, 1)

kernel add grid=(8, 1, 1) block=(1, 1, 1)
  param X: read global float32[8]
  param Y: read_write global float32[8]
  axis i = blockIdx.x < 8
  Y[i] = Y[i] + X[i]
)";

hal::EntryPoint add_entry() {
  return {.name = "add",
          .params = {BufferParam{"X", hal::Access::Read, 32},
                     BufferParam{"Y", hal::Access::ReadWrite, 32}}};
}

CompiledModule compiled(std::string_view text) {
  const ir::Target target;
  return generate(ir::parse_program(text, "test.tl", {}), target);
}

// Fixture with a device of the driver `host`.
class InterpretedKernels : public hal::DeviceTest {
 protected:
  void SetUp() override { open({}); }

  void open(const InterpreterLoaderOptions& options) {
    driver_ =
        hal::host::create_driver({.threads = 2, .loaders = {make_interpreter_loader(options)}});
    auto device = driver_->open(0);
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    device_ = *device;
  }

  Result<std::shared_ptr<hal::Executable>> build(std::string_view text,
                                                 hal::EntryPoint entry) const {
    return device_->create_executable(
        {.codes = {{.format = KernelFormat::Ir, .code = std::string(text)}},
         .entry_points = {std::move(entry)}});
  }

  // Launches a kernel that has only buffers as parameters.
  Status launch(std::string_view text, const hal::EntryPoint& entry,
                const std::vector<Binding>& bindings, std::uint32_t groups) {
    TL_ASSIGN_OR_RETURN(const std::shared_ptr<hal::Executable> executable, build(text, entry));
    const auto commands = device_->create_command_buffer();
    TL_RETURN_IF_ERROR(commands->dispatch(executable, 0, {groups, 1, 1}, bindings, {}));
    return run(commands);
  }
};

// The same plan with the same arguments gives the same bytes on `host` and on OpenCL.
class AgainstOpenCl : public hal::OpenClTest {
 protected:
  void SetUp() override {
    OpenClTest::SetUp();
    if (IsSkipped()) return;
    opencl_ = device_;
    auto host =
        hal::host::create_driver({.threads = 2, .loaders = {make_interpreter_loader()}})->open(0);
    ASSERT_TRUE(host.ok()) << host.status().to_string();
    host_ = *host;
  }

  // Runs the plan and returns the contents of the last argument.
  hal::Bytes result(const std::shared_ptr<hal::Device>& device, const runtime::LaunchPlan& plan,
                    const std::vector<std::int64_t>& symbols, const hal::Bytes& texels) {
    device_ = device;
    const auto executor = runtime::DeviceProgram::create(device, plan);
    EXPECT_TRUE(executor.ok()) << executor.status().to_string();
    if (!executor.ok()) return {};
    std::vector<float> input(32);
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = 0.37F * static_cast<float>(i) - 3;
    std::vector<Binding> arguments = {BufferBinding{make_buffer(hal::bytes_of(input))}};
    if (!texels.empty()) {
      const auto image = make_texture({5, 4}, hal::TexelFormat::Rgba16Float);
      const Status written = write_texture(*device, image, {{}, {5, 4}}, texels);
      EXPECT_TRUE(written.ok()) << written.to_string();
      arguments.emplace_back(TextureBinding{image, {2, 1}});
    }
    const auto output = make_buffer(hal::bytes_of(std::vector<float>(32, 1.5F)));
    arguments.emplace_back(BufferBinding{output});
    const Status status = (*executor)->run(arguments, {.symbols = symbols});
    EXPECT_TRUE(status.ok()) << status.to_string();
    const Status ran = device->queue()->wait_idle();
    EXPECT_TRUE(ran.ok()) << ran.to_string();
    return content_of(output);
  }

  void compare(std::string_view text, const std::vector<std::int64_t>& symbols,
               const hal::Bytes& texels) {
    const CompiledModule module = compiled(text);
    runtime::LaunchPlan plan = make_launch_plan(module);
    add_interpreted_code(module, plan);
    const hal::Bytes expected = result(opencl_, plan, symbols, texels);
    EXPECT_NE(expected, (hal::Bytes{}));
    EXPECT_EQ(result(host_, plan, symbols, texels), expected);
  }

  std::shared_ptr<hal::Device> opencl_, host_;
};

TEST_F(AgainstOpenCl, TexturesBarriersAndLoops) {
  std::vector<std::uint16_t> halves(5 * 4 * 4);
  for (std::size_t i = 0; i < halves.size(); ++i)
    halves[i] = static_cast<std::uint16_t>(0x3801 + 37 * i);
  const auto bytes = hal::bytes_of(halves);
  compare(kTextures, {}, {bytes.begin(), bytes.end()});
}

TEST_F(AgainstOpenCl, ArraysOfSymbolicExtents) { compare(kSymbolic, {32}, {}); }

TEST_F(AgainstOpenCl, OneKernel) {
  compare(R"(program main stage=kernels
  param X: global float32[32]
  param Y: global float32[32]
  launch roots(X, Y) grid=(4, 1, 1) block=(2, 4, 1)

kernel roots grid=(4, 1, 1) block=(2, 4, 1)
  param X: read global float32[32]
  param Y: read_write global float32[32]
  axis i = blockIdx.x < 4
  axis tx = threadIdx.x < 2
  axis ty = threadIdx.y < 4
  let at: int32 = i * 8 + ty * 2 + tx
  if X[at] > 0.0 {
    Y[at] = sqrt(X[at]) / 3.0 - Y[at]
  }
)",
          {}, {});
}

// Bindings have offsets; memory that is not bound or not written keeps its bytes.
TEST_F(InterpretedKernels, WriteOnlyWhatTheyWrite) {
  std::vector<float> values(32, 2.0F);
  const auto buffer = make_buffer(hal::bytes_of(values));
  TL_ASSERT_OK(
      launch(kAdd, add_entry(), {BufferBinding{buffer, 32}, BufferBinding{buffer, 64}}, 5));
  for (std::size_t i = 16; i < 21; ++i) values[i] = 4.0F;
  EXPECT_EQ(values_of<float>(buffer), values);
}

// A fault becomes the error of the submission, with the interpreter's message.
TEST_F(InterpretedKernels, FaultsAreErrors) {
  const auto x = make_buffer(hal::bytes_of(std::vector<float>(8, 1.0F)));
  const auto y = make_buffer(hal::bytes_of(std::vector<float>(8, 1.0F)));
  const std::vector<Binding> both = {BufferBinding{x}, BufferBinding{y}};
  EXPECT_THAT(launch(kAdd, add_entry(), both, 9),
              fails_with(StatusCode::DeviceError, "Y[8] lies outside Y of extent 8"));
  std::string race(kAdd);
  race.replace(race.find("Y[i] = Y[i]"), 11, "Y[0] = Y[i]");
  EXPECT_THAT(launch(race, add_entry(), both, 8),
              fails_with(StatusCode::DeviceError, "kernel \"add\": kernels.tl:10: race in add"));
  // The device still works.
  TL_ASSERT_OK(launch(kAdd, add_entry(), both, 8));
}

TEST_F(InterpretedKernels, EndlessKernelsRunOutOfSteps) {
  open({.max_steps = 1000});
  std::string endless(kAdd);
  endless.replace(endless.find("  Y[i] = Y[i] + X[i]"), 20,
                  "  while X[i] > 0.0 {\n    Y[i] = Y[i] + X[i]\n  }");
  const auto x = make_buffer(hal::bytes_of(std::vector<float>(8, 1.0F)));
  const auto y = make_buffer(hal::bytes_of(std::vector<float>(8, 1.0F)));
  EXPECT_THAT(launch(endless, add_entry(), {BufferBinding{x}, BufferBinding{y}}, 1),
              fails_with(StatusCode::DeviceError, "1000 steps"));
}

TEST_F(InterpretedKernels, BuildErrors) {
  const auto status = [&](std::string_view text, const hal::EntryPoint& entry) {
    return build(text, entry).status();
  };
  std::string wrong(kAdd);
  wrong.replace(wrong.find("+ X[i]"), 6, "+ Z[i]");
  EXPECT_THAT(status(wrong, add_entry()), fails_with(StatusCode::BuildFailed, "kernels.tl:10"));
  EXPECT_THAT(
      status("program main stage=loops\n  param X: global float32[8]\n  X[0] = 1.0\n", add_entry()),
      fails_with(StatusCode::BuildFailed, "stage loops has no kernels"));
  hal::EntryPoint entry = add_entry();
  entry.name = "sub";
  EXPECT_THAT(status(kAdd, entry), fails_with(StatusCode::NotFound, "no kernel \"sub\""));
}

// A parameter table that does not match the kernel is refused.
TEST_F(InterpretedKernels, TablesAreHeldAgainstTheKernel) {
  const auto refused = [&](const hal::EntryPoint& entry, const char* words) {
    EXPECT_THAT(build(kAdd, entry).status(), fails_with(StatusCode::InvalidArgument, words));
  };
  hal::EntryPoint entry = add_entry();
  entry.workgroup_size = {2, 1, 1};
  refused(entry, "the kernel's workgroup is 1 x 1 x 1, but the entry point says 2 x 1 x 1");
  entry = add_entry();
  entry.params.pop_back();
  refused(entry, "the kernel has 2 parameters, but the entry point lists 1");
  entry = add_entry();
  entry.params[1] = ConstantParam{"Y"};
  refused(entry, "\"Y\" does not match the kernel's parameter, a buffer \"Y\"");
  entry = add_entry();
  std::get<BufferParam>(entry.params[0]).access = hal::Access::Write;
  refused(entry, "\"X\" does not match");
  // The binding is smaller than the range that the kernel accesses.
  entry = add_entry();
  std::get<BufferParam>(entry.params[0]).min_bytes = 0;
  const auto x = make_buffer(31);
  const auto y = make_buffer(32);
  EXPECT_THAT(
      launch(kAdd, entry, {BufferBinding{x}, BufferBinding{y}}, 1),
      fails_with(StatusCode::InvalidArgument, "\"X\" has 8 elements of float32, but 31 bytes"));
}

}  // namespace
}  // namespace texloom::compile
