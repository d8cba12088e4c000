// Compiles the text of a schedule and runs the module, without Python.
#include "compile/compile.h"

#include <gmock/gmock.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compile/bad_indices.h"
#include "compile/interpreted_kernels.h"
#include "compile/launch_plan.h"
#include "compile/needs.h"
#include "compile/package.h"
#include "lower/te_text.h"
#include "runtime/drivers/host/driver.h"
#include "runtime/executor/device_program.h"
#include "runtime/package/package_file.h"
#include "runtime/package/package_writer.h"
#include "support/diagnostic.h"
#include "tests/runtime/opencl_fixture.h"

namespace texloom::compile {
namespace {

using ::testing::HasSubstr;

// Two kernels; the first writes a temporary.
constexpr std::string_view kChain = R"(program chain stage=te target="opencl"
  param A
  param C

placeholder A: float32[10]

compute B(i < 10): float32 = A[i] + 1.0
  split i factor=4 -> io, ii
  bind io blockIdx.x
  bind ii threadIdx.x

compute C(i < 10): float32 = B[i] * 2.0
  output
  bind i blockIdx.x
)";

// Reads A at indices that the caller gives.
constexpr std::string_view kGather = R"(program gather stage=te target="opencl"
  param A
  param I
  param B

placeholder A: float32[4]

placeholder I: int32[4]

compute B(i < 4): float32 = A[I[i]]
  output
  bind i blockIdx.x
)";

SourceProgram parsed(std::string_view text) {
  return {std::make_shared<const lower::Lowering>(lower::parse_lowering(text, "test.tl"))};
}

Code code_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const UserError& error) {
    return error.diagnostics().front().code;
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

// Runs modules on a device of the host driver or of OpenCL.
class Compiled : public hal::OpenClTest {
 protected:
  void open_host() {
    auto host = hal::host::create_driver({.threads = 2, .loaders = {make_interpreter_loader()}});
    const auto device = host->open(0);
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    device_ = *device;
  }

  // Runs the module with these arguments.
  Status run(const CompiledModule& module, const std::vector<hal::Binding>& arguments) {
    runtime::LaunchPlan plan = make_launch_plan(module);
    add_interpreted_code(module, plan);
    TL_ASSIGN_OR_RETURN(const auto executor,
                        runtime::DeviceProgram::create(device_, std::move(plan)));
    TL_RETURN_IF_ERROR(executor->run(arguments));
    return device_->queue()->wait_idle();
  }

  void expect_chain_of(const CompiledModule& module) {
    std::vector<float> input(10), expected(10);
    for (size_t i = 0; i < input.size(); ++i) {
      input[i] = static_cast<float>(i);
      expected[i] = (input[i] + 1) * 2;
    }
    const auto a = make_buffer(hal::bytes_of(input));
    const auto c = make_buffer(hal::bytes_of(std::vector<float>(10)));
    TL_ASSERT_OK(run(module, {hal::BufferBinding{a}, hal::BufferBinding{c}}));
    EXPECT_EQ(values_of<float>(c), expected);
  }
};

TEST_F(Compiled, RunsOnTheHost) {
  open_host();
  expect_chain_of(compile(parsed(kChain)));
}

TEST_F(Compiled, RunsOnOpenCl) { expect_chain_of(compile(parsed(kChain))); }

// A module survives storing and loading.
TEST_F(Compiled, RunsFromItsPackage) {
  open_host();
  const runtime::Package package = package_of(compile(parsed(kChain)), {});
  const auto bytes = runtime::package_bytes(std::span(&package, 1));
  ASSERT_TRUE(bytes.ok()) << bytes.status().to_string();
  const auto file = runtime::PackageFile::open(*bytes);
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  const CompiledModule module = module_of((*file)->package(), 0, "chain.tlp", {});
  EXPECT_EQ(module.kernels.size(), 2U);
  expect_chain_of(module);
}

// One code may hold several kernels. They form one module of the plan, which a device builds once.
// The module has codes in two formats: the target's and the interpreter's.
TEST_F(Compiled, SeveralKernelsInOneCode) {
  CompiledModule module = compile(parsed(kChain));
  codegen::CompiledCode both = *module.kernels[0].code;
  both.bytes += module.kernels[1].code->bytes;
  both.entries.push_back({1, module.kernels[1].name});
  for (CompiledKernel& kernel : module.kernels)
    kernel.code = std::make_shared<const codegen::CompiledCode>(both);
  module.kernels[1].code = module.kernels[0].code;
  expect_chain_of(module);
  const runtime::Package package = package_of(module, {});
  ASSERT_EQ(package.variants[0].plan.modules.size(), 1U);
  EXPECT_EQ(package.variants[0].plan.modules[0].codes.size(), 2U);
  const CompiledModule loaded = module_of(package, 0, "chain.tlp", {});
  EXPECT_EQ(loaded.kernels[0].code, loaded.kernels[1].code);
  EXPECT_EQ(loaded.kernels[0].code->entries.size(), 2U);
  open_host();
  expect_chain_of(loaded);
}

// The plan of a package runs without the compiler, on a device of its target and, since it has
// kernels in the text form, on the host.
TEST_F(Compiled, PackagesHaveCodeForTheInterpreter) {
  const runtime::Package package = package_of(compile(parsed(kChain)), {});
  ASSERT_EQ(package.variants.size(), 1U);
  for (const runtime::ModuleSpec& code : package.variants[0].plan.modules) {
    ASSERT_EQ(code.codes.size(), 2U);
    EXPECT_EQ(code.codes[0].format, KernelFormat::OpenClC);
    EXPECT_EQ(code.codes[1].format, KernelFormat::Ir);
  }
  EXPECT_EQ(package.variants[0].needs.of(runtime::need::kMaxWorkGroupSize), 4U);
  EXPECT_EQ(package.variants[0].needs.of(runtime::need::kBufferBytes), 40U);
}

// The source of a package for Metal states its language. The source states the width of SIMD-groups
// only if its kernel relies on the width (tests/python/metal/test_shuffles.py).
TEST_F(Compiled, PackagesForMetalHaveItsLanguage) {
  using testing::ElementsAre;
  const auto options_of = [](const char* target) {
    lower::Lowering schedule = *parsed(kChain).state;
    schedule.target = ir::parse_target(target, {});
    const SourceProgram program{std::make_shared<const lower::Lowering>(std::move(schedule))};
    const runtime::Package package = package_of(compile(program), {});
    const hal::KernelCode& code = package.variants[0].plan.modules[0].codes[0];
    EXPECT_EQ(code.format, KernelFormat::Msl);
    return code.build_options;
  };
  EXPECT_THAT(options_of("metal"), ElementsAre("-std=metal2.3"));
  EXPECT_THAT(options_of("metal -device=m3"), ElementsAre("-std=metal3.1"));
}

// A checked build reports a bad index after the run, with the line of the access.
TEST_F(Compiled, ReportsBadIndices) {
  open_host();
  const CompiledModule module = compile(parsed(kGather), {.checked = true});
  ASSERT_FALSE(module.checks.empty());
  const auto a = make_buffer(hal::bytes_of(std::vector<float>(4, 1.0F)));
  const auto b = make_buffer(hal::bytes_of(std::vector<float>(4)));
  const auto report_of = [&](const std::vector<int32_t>& indices) {
    const auto i = make_buffer(hal::bytes_of(indices));
    const auto report = make_index_report(*device_, module.checks);
    EXPECT_TRUE(report.ok());
    const Status status =
        run(module, {hal::BufferBinding{a}, hal::BufferBinding{i}, hal::BufferBinding{b}, *report});
    EXPECT_TRUE(status.ok()) << status.to_string();
    return *read_index_report(*device_, *report, module.checks);
  };
  fail_if_bad(report_of({3, 2, 1, 0}), module.checks);
  const std::vector<int64_t> bad = report_of({3, 2, 4, 0});
  try {
    fail_if_bad(bad, module.checks);
    ADD_FAILURE();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("index 4 is out of bounds for axis 0 of 'A'"));
    EXPECT_EQ(error.diagnostics().front().code, Code::IndexOutOfRange);
  }
}

// The text of each kernel contains only that kernel, so the total size stays linear in the program.
TEST(Compile, InterpretedKernelsHoldOneKernelEach) {
  const CompiledModule module = compile(parsed(kChain));
  runtime::LaunchPlan plan = make_launch_plan(module);
  add_interpreted_code(module, plan);
  ASSERT_EQ(plan.kernels.size(), 2U);
  for (const runtime::KernelSpec& kernel : plan.kernels) {
    const std::string& text = plan.modules[kernel.module].codes.back().code;
    EXPECT_THAT(text, HasSubstr("\nkernel " + kernel.entry.name + " "));
    EXPECT_EQ(text.find("\nkernel "), text.rfind("\nkernel "));
  }
}

TEST(Compile, StagesThatAreNotCompiled) {
  const SourceProgram loops = parsed("program p stage=loops\n  param X: global float32[8]\n");
  EXPECT_EQ(code_of([&] { compile(loops); }), Code::BadArguments);
  EXPECT_FALSE(for_target(loops, {}).has_value());
}

TEST(Compile, ForAnotherTarget) {
  ir::Target mali = ir::parse_target("opencl -device=mali", {});
  const auto program = for_target(parsed(kChain), mali);
  ASSERT_TRUE(program.has_value());
  EXPECT_EQ(compile(*program).target, mali);
}

// An exception that the callback throws between passes and kernels propagates from compile().
TEST(Compile, IsInterrupted) {
  struct Interrupted {};
  const SourceProgram program = parsed(kChain);
  int calls = 0;
  compile(program, {}, [&] { ++calls; });
  EXPECT_GT(calls, 10);
  int left = calls - 1;
  const auto stop = [&] {
    if (left-- == 0) throw Interrupted();
  };
  EXPECT_THROW(compile(program, {}, stop), Interrupted);
}

// A module requires half arithmetic only if a kernel uses it, even if the target supports it.
TEST(Compile, RequiresHalfArithmeticWhereItIsUsed) {
  constexpr std::string_view kHalf = "opencl -float16_arithmetic=1";
  const auto in_half = for_target(parsed(kChain), ir::parse_target(kHalf, {}));
  EXPECT_EQ(compile(*in_half).features, runtime::VariantNeeds{});
  std::string text(kChain);
  const auto replace_all = [&](std::string_view from, std::string_view to) {
    for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  };
  replace_all("float32", "float16");
  replace_all("1.0", "float16(1.0)");
  replace_all("2.0", "float16(2.0)");
  const auto half = for_target(parsed(text), ir::parse_target(kHalf, {}));
  const CompiledModule module = compile(*half);
  EXPECT_EQ(module.features.of(runtime::need::kFloat16Arithmetic), 1U);
  hal::DeviceInfo device;
  device.name = "plain";
  device.formats = {KernelFormat::OpenClC};
  EXPECT_EQ(code_of([&] { check_device(module, device, {}); }), Code::UnsupportedType);
  device.features.float16_arithmetic = true;
  check_device(module, device, {});
}

TEST(Compile, RequiresTheFeaturesThatKernelsUse) {
  std::string text(kChain);
  for (size_t at = 0; (at = text.find("float32", at)) != text.npos;) text.replace(at, 7, "float64");
  for (const char* constant : {"1.0", "2.0"}) {
    text.replace(text.find(constant), 3, fmt::format("float64({})", constant));
  }
  const CompiledModule module = compile(parsed(text));
  EXPECT_EQ(module.features, (runtime::VariantNeeds{{runtime::need::kFloat64, 1}}));
  hal::DeviceInfo device;
  device.formats = {KernelFormat::OpenClC};
  EXPECT_EQ(code_of([&] { check_device(module, device, {}); }), Code::UnsupportedType);
  device.features.float64 = true;
  check_device(module, device, {});
}

// A driver runs a module if it accepts the format of the module's code or of interpreted kernels.
TEST(Compile, RunsWhereItsFormatIsPrepared) {
  const CompiledModule module = compile(parsed(kChain));
  hal::DeviceInfo device;
  device.name = "other";
  for (const KernelFormat format : {KernelFormat::OpenClC, KernelFormat::Ir}) {
    device.formats = {format};
    check_device(module, device, {});
  }
  device.formats = {KernelFormat::Msl, KernelFormat::Metallib};
  EXPECT_EQ(code_of([&] { check_device(module, device, {}); }), Code::NoDevice);
}

// Each part of a package may be valid alone, but the parts may contradict each other.
TEST(Compile, PackagesWhosePartsDoNotFit) {
  const runtime::Package good = package_of(compile(parsed(kChain)), {});
  const auto refused = [&](auto change) {
    runtime::Package wrong = good;
    change(wrong);
    return code_of([&] { module_of(wrong, 0, "chain.tlp", {}); });
  };
  using runtime::Package;
  EXPECT_EQ(refused([](Package& p) { p.variants[0].plan.kernels.pop_back(); }), Code::BadPackage);
  EXPECT_EQ(refused([](Package& p) {
              p.variants[0].plan.arguments[0].layout = runtime::row_major({11});
            }),
            Code::BadPackage);
  EXPECT_EQ(refused([](Package& p) { p.variants[0].stores[0].layout = "texture[(d0) -> "; }),
            Code::BadPackage);
  EXPECT_EQ(
      refused([](Package& p) { std::swap(p.variants[0].stores[0], p.variants[0].stores[1]); }),
      Code::BadPackage);
  EXPECT_EQ(refused([](Package& p) { p.numbers.push_back({0, 0, hal::ElementType::Int32}); }),
            Code::BadPackage);
  EXPECT_EQ(refused([](Package& p) { p.variants[0].program.clear(); }), Code::BadPackage);
  EXPECT_EQ(refused([](Package& p) { p.variants[0].target = "abacus"; }), Code::UnknownTarget);
  EXPECT_EQ(refused([](Package& p) { p.variants[0].program[0] = 'P'; }), Code::SyntaxError);
  EXPECT_EQ(refused([](Package& p) {
              p.variants[0].program =
                  "program f stage=loops\n  param A: global float32[4]\n  A[0] = 1.0\n";
            }),
            Code::BadPackage);
}

}  // namespace
}  // namespace texloom::compile
