// Tests executables of OpenCL C: building them and checking entry points against compiled kernels.
#include "runtime/drivers/opencl/kernels/program.h"
#include "tests/runtime/opencl_fixture.h"

namespace texloom::hal::opencl {
namespace {

constexpr const char* kCopySource = R"(
  __kernel void copy(__read_only image2d_t in, __global float* out, int n) {
    const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
    int i = get_global_id(0);
    if (i < n) vstore4(read_imagef(in, s, (int2)(i, 0)), i, out);
  }
  __kernel __attribute__((reqd_work_group_size(8, 2, 1))) void fixed(__global float* out) {
    out[get_global_id(0)] = 1.0f;
  })";

EntryPoint copy_entry() {
  return {
      .name = "copy",
      .params = {TextureParam{.name = "in"}, BufferParam{.name = "out", .access = Access::Write},
                 ConstantParam{.name = "n"}}};
}

class ExecutableTest : public OpenClTest {
 protected:
  Status status_of(std::string source, EntryPoint entry, std::vector<std::string> options = {}) {
    return device_
        ->create_executable({.codes = opencl_c(std::move(source), std::move(options)),
                             .entry_points = {std::move(entry)}})
        .status();
  }
  // Returns the status for the table of `copy` after a change.
  template <typename Change>
  Status status_of_copy(Change change) {
    EntryPoint entry = copy_entry();
    change(entry);
    return status_of(kCopySource, entry);
  }
};

TEST_F(ExecutableTest, BuildFailureCarriesErrorNameKernelAndLog) {
  const Status status =
      status_of("__kernel void bad(__global float* x) { x[0] = undeclared_name; }",
                {.name = "bad", .params = {BufferParam{.name = "x"}}});
  EXPECT_THAT(status, fails_with(StatusCode::BuildFailed, "CL_BUILD_PROGRAM_FAILURE"));
  EXPECT_THAT(status, fails_with(StatusCode::BuildFailed, "clBuildProgram"));
  EXPECT_THAT(status, fails_with(StatusCode::BuildFailed, "kernel \"bad\""));
  EXPECT_THAT(status, fails_with(StatusCode::BuildFailed, "undeclared_name"));
}

TEST_F(ExecutableTest, BuildOptionsReachTheCompiler) {
  const char* source = "__kernel void k(__global int* x) { x[0] = VALUE; }";
  const EntryPoint entry{.name = "k", .params = {BufferParam{.name = "x"}}};
  EXPECT_THAT(status_of(source, entry), fails_with(StatusCode::BuildFailed, "VALUE"));
  TL_ASSERT_OK(status_of(source, entry, {"-cl-std=CL1.2", "-DVALUE=3"}));
  EXPECT_EQ(status_of(source, entry, {"-DVALUE=3", "-no-such-option"}).code(),
            StatusCode::BuildFailed);
}

TEST_F(ExecutableTest, UnknownKernelNamesThoseThereAre) {
  const Status status = status_of_copy([](EntryPoint& entry) { entry.name = "cop"; });
  EXPECT_THAT(status, fails_with(StatusCode::NotFound, "no kernel \"cop\""));
  EXPECT_THAT(status, fails_with(StatusCode::NotFound, "fixed"));
}

TEST_F(ExecutableTest, TableThatDoesNotMatchTheKernelIsRefused) {
  const auto refused = [](const char* part) {
    return fails_with(StatusCode::InvalidArgument, std::string(part));
  };
  TL_ASSERT_OK(status_of_copy([](EntryPoint&) {}));
  EXPECT_THAT(
      status_of_copy([](EntryPoint& e) { e.params.pop_back(); }),
      refused("kernel \"copy\": the entry point declares 2 parameters, but the kernel has 3"));
  EXPECT_THAT(
      status_of_copy([](EntryPoint& e) { e.params[0] = BufferParam{.name = "in"}; }),
      refused(
          "argument 0 \"in\": the entry point declares a buffer, but the kernel has image2d_t"));
  EXPECT_THAT(
      status_of_copy(
          [](EntryPoint& e) { e.params[0] = TextureParam{.name = "in", .access = Access::Write}; }),
      refused("argument 0 \"in\": the entry point declares a texture for write, but the kernel "
              "declares it for read"));
  EXPECT_THAT(status_of_copy([](EntryPoint& e) { e.params[1] = TextureParam{.name = "out"}; }),
              refused("argument 1 \"out\": the entry point declares a texture rgba32float, but the "
                      "kernel has float*"));
  EXPECT_THAT(status_of_copy([](EntryPoint& e) { e.params[1] = ConstantParam{.name = "out"}; }),
              refused("argument 1 \"out\": the entry point declares a constant int32"));
  EXPECT_THAT(
      status_of_copy([](EntryPoint& e) { e.params[2] = BufferParam{.name = "n"}; }),
      refused("argument 2 \"n\": the entry point declares a buffer, but the kernel has int"));
  EXPECT_THAT(
      status_of_copy([](EntryPoint& e) { e.params[1] = LocalParam{"out", 64}; }),
      refused(
          "argument 1 \"out\": the entry point declares local memory, but the kernel has float*"));
  EXPECT_THAT(
      status_of_copy([](EntryPoint& e) {
        e.params[2] = ConstantParam{.name = "n", .type = ElementType::Int64};
      }),
      refused(
          "argument 2 \"n\": the entry point declares a constant int64, but the kernel has int"));
}

TEST_F(ExecutableTest, LocalMemoryIsCountedWithWhatTheKernelDeclares) {
  const std::uint64_t all = device_->info().limits.local_memory_bytes / 16 * 16;
  const auto with = [&](const char* param, std::uint64_t bytes) {
    return status_of(
        fmt::format("__kernel void k({}, __global int* out) {{ __local int own[64]; "
                    "own[out[0] & 63] = 1; out[1] = own[out[2] & 63] + (int)(size_t)x; }}",
                    param),
        {.name = "k",
         .params = {LocalParam{"x", bytes},
                    BufferParam{.name = "out", .access = Access::ReadWrite}}});
  };
  TL_ASSERT_OK(with("__local int* x", 64));
  // Some devices report a few bytes more than the kernel uses.
  EXPECT_THAT(with("__local int* x", all),
              fails_with(StatusCode::InvalidArgument, "bytes of local memory"));
  EXPECT_THAT(with("__global int* x", 64),
              fails_with(StatusCode::InvalidArgument,
                         "the entry point declares local memory, but the kernel has int*"));
}

TEST_F(ExecutableTest, OtherKindsOfImagesAreNoTextures) {
  for (const char* type : {"image2d_array_t", "image1d_t", "image3d_t"})
    EXPECT_THAT(
        status_of(fmt::format("__kernel void k(__read_only {} t) {{ }}", type),
                  {.name = "k", .params = {TextureParam{.name = "t"}}}),
        fails_with(
            StatusCode::InvalidArgument,
            fmt::format("the entry point declares a texture rgba32float, but the kernel has {}",
                        type)));
}

// A kernel's scalar parameter accepts only constants of its own type.
TEST_F(ExecutableTest, ConstantsAreOfTheKernelsType) {
  std::vector<std::pair<const char*, ElementType>> types = {{"int", ElementType::Int32},
                                                            {"uint", ElementType::UInt32},
                                                            {"long", ElementType::Int64},
                                                            {"ulong", ElementType::UInt64},
                                                            {"float", ElementType::Float32}};
  if (device_->info().features.float64) types.emplace_back("double", ElementType::Float64);
  std::string params;
  EntryPoint entry{.name = "k", .params = {}};
  for (std::size_t i = 0; i < types.size(); ++i) {
    params += fmt::format("{}{} c{}", i == 0 ? "" : ", ", types[i].first, i);
    entry.params.emplace_back(ConstantParam{.name = "c", .type = types[i].second});
  }
  const std::string source = "__kernel void k(" + params + ") { }";
  TL_ASSERT_OK(status_of(source, entry));
  for (std::size_t i = 0; i < types.size(); ++i) {
    EntryPoint wrong = entry;
    wrong.params[i] = entry.params[(i + 1) % types.size()];
    EXPECT_THAT(
        status_of(source, wrong),
        fails_with(
            StatusCode::InvalidArgument,
            fmt::format("argument {} \"c\": the entry point declares {}, but the kernel has {}", i,
                        describe(wrong.params[i]), types[i].first)));
  }
}

TEST_F(ExecutableTest, WhatIsNoScalarOf32Or64BitsIsNoConstant) {
  for (const char* type : {"char", "ushort", "float4", "uint16", "sampler_t"}) {
    EXPECT_THAT(
        status_of(fmt::format("__kernel void k({} c) {{ }}", type),
                  {.name = "k", .params = {ConstantParam{.name = "c"}}}),
        fails_with(
            StatusCode::InvalidArgument,
            fmt::format("the entry point declares a constant int32, but the kernel has {}", type)));
  }
  // A type name that the source defines may be any type.
  TL_ASSERT_OK(status_of("typedef int count; __kernel void k(count c) { }",
                         {.name = "k", .params = {ConstantParam{.name = "c"}}}));
}

// The table's write flags decide which commands may overlap, so a table that lists a write the
// kernel cannot make is wrong.
TEST_F(ExecutableTest, ABufferThatTheKernelOnlyReadsIsNotWritten) {
  for (const char* declaration : {"__global const float* b", "__constant float* b"}) {
    const std::string source = fmt::format("__kernel void k({}) {{ }}", declaration);
    TL_ASSERT_OK(status_of(source, {.name = "k", .params = {BufferParam{.name = "b"}}}));
    for (const Access access : {Access::Write, Access::ReadWrite}) {
      EXPECT_THAT(
          status_of(source, {.name = "k", .params = {BufferParam{.name = "b", .access = access}}}),
          fails_with(StatusCode::InvalidArgument, "the kernel only reads it"));
    }
  }
}

TEST_F(ExecutableTest, AWorkgroupThatTheKernelDoesNotRequireIsRefused) {
  EXPECT_THAT(status_of(kCopySource, {.name = "fixed",
                                      .params = {BufferParam{.name = "out"}},
                                      .workgroup_size = {16, 1, 1}}),
              fails_with(StatusCode::InvalidArgument, "the kernel requires 8 x 2 x 1"));
}

// --- Codes: the choice of a code, and its options for arithmetic

constexpr const char* kSetSource = "__kernel void k(__global int* x) { x[0] = VALUE; }";

EntryPoint set_entry() { return {.name = "k", .params = {BufferParam{.name = "x"}}}; }

TEST_F(ExecutableTest, TheFirstCodeThatTheDriverUnderstandsIsTaken) {
  const auto status = [&](std::vector<KernelCode> codes) {
    return device_->create_executable({.codes = std::move(codes), .entry_points = {set_entry()}})
        .status();
  };
  const KernelCode msl{.format = KernelFormat::Msl, .code = "kernel void k() {}"};
  const KernelCode good{.code = kSetSource, .build_options = {"-DVALUE=1"}};
  const KernelCode bad{.code = kSetSource};
  TL_ASSERT_OK(status({msl, good, bad}));
  EXPECT_EQ(status({msl, bad, good}).code(), StatusCode::BuildFailed);
  EXPECT_THAT(status({msl, {.format = KernelFormat::Ir, .code = "x"}}),
              fails_with(StatusCode::Unimplemented,
                         "the kernels are given as: MSL, IR; the driver opencl takes: OpenCL C, "
                         "an OpenCL binary"));
  EXPECT_THAT(status({good, {.format = KernelFormat::Msl}}),
              fails_with(StatusCode::InvalidArgument, "an executable whose MSL code is empty"));
}

TEST_F(ExecutableTest, BytesThatAreNoBinaryDoNotBuild) {
  const Status status =
      device_
          ->create_executable(
              {.codes = {{.format = KernelFormat::OpenClBinary, .code = "no binary at all"}},
               .entry_points = {set_entry()}})
          .status();
  EXPECT_THAT(status, fails_with(StatusCode::BuildFailed, "kernel \"k\""));
}

TEST_F(ExecutableTest, OptionsThatRelaxArithmeticNeedTheMathMode) {
  const auto status = [&](std::vector<std::string> options, MathMode math) {
    return device_
        ->create_executable({.codes = opencl_c("__kernel void k(__global int* x) { x[0] = 1; }",
                                               std::move(options)),
                             .entry_points = {set_entry()},
                             .math = math})
        .status();
  };
  for (const char* option :
       {"-cl-mad-enable", "-cl-no-signed-zeros", "-cl-denorms-are-zero", "-cl-finite-math-only",
        "-cl-unsafe-math-optimizations", "-cl-fast-relaxed-math"}) {
    EXPECT_THAT(status({std::string("-DA=1 ") + option}, MathMode::Strict),
                fails_with(StatusCode::InvalidArgument, option));
    EXPECT_THAT(status({std::string("-DA=1\n") + option + "\t"}, MathMode::Strict),
                fails_with(StatusCode::InvalidArgument, option));
    TL_ASSERT_OK(status({option}, MathMode::Fast));
  }
  TL_ASSERT_OK(status({"-cl-mad-enable"}, MathMode::Contract));
  EXPECT_THAT(status({"-cl-unsafe-math-optimizations"}, MathMode::Contract),
              fails_with(StatusCode::InvalidArgument, "-cl-unsafe-math-optimizations"));
  TL_ASSERT_OK(status({"-DA=-cl-mad-enable"}, MathMode::Strict));
}

TEST_F(ExecutableTest, SourceIsBuiltWithTheOptionsOfTheMathMode) {
  const KernelCode code{.format = KernelFormat::OpenClC};
  const auto options = [&](MathMode math) { return build_options(code, math).value(); };
  EXPECT_EQ(options(MathMode::Strict).find("math"), std::string::npos);
  EXPECT_NE(options(MathMode::Fast).find("-cl-fast-relaxed-math"), std::string::npos);
}

}  // namespace
}  // namespace texloom::hal::opencl
