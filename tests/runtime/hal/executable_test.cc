// Executables: building, and the table of entry points against the compiled kernels.
#include "runtime/hal/executable.h"

#include "tests/runtime/opencl_fixture.h"

namespace texloom::hal {
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
        ->create_executable({.source = std::move(source),
                             .build_options = std::move(options),
                             .entry_points = {std::move(entry)}})
        .status();
  }
  // The status for a table of `copy` in which one thing was changed.
  template <typename Change>
  Status status_of_copy(Change change) {
    EntryPoint entry = copy_entry();
    change(entry);
    return status_of(kCopySource, entry);
  }
};

TEST_F(ExecutableTest, FindsItsEntryPoints) {
  const Result<std::shared_ptr<Executable>> executable =
      device_->create_executable({.source = kCopySource,
                                  .build_options = {},
                                  .entry_points = {copy_entry(),
                                                   {.name = "fixed",
                                                    .params = {BufferParam{.name = "out"}},
                                                    .workgroup_size = {8, 2, 1}}}});
  ASSERT_TRUE(executable.ok()) << executable.status().to_string();
  EXPECT_EQ(*(*executable)->find("fixed"), 1u);
  EXPECT_THAT((*executable)->find("none").status(),
              fails_with(StatusCode::NotFound, "\"none\"; there are: copy, fixed"));
}

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
  EXPECT_THAT(status_of_copy([](EntryPoint& e) { e.params.pop_back(); }),
              refused("kernel \"copy\": the table has 2 parameters, the kernel 3"));
  EXPECT_THAT(status_of_copy([](EntryPoint& e) { e.params[0] = BufferParam{.name = "in"}; }),
              refused("argument 0 \"in\": the table says a buffer, the kernel has image2d_t"));
  EXPECT_THAT(status_of_copy([](EntryPoint& e) {
                e.params[0] = TextureParam{.name = "in", .access = Access::Write};
              }),
              refused("argument 0 \"in\": the table says a texture for write"));
  EXPECT_THAT(status_of_copy([](EntryPoint& e) { e.params[1] = TextureParam{.name = "out"}; }),
              refused("argument 1 \"out\": the table says a texture rgba32float, the kernel has "
                      "float*"));
  EXPECT_THAT(status_of_copy([](EntryPoint& e) { e.params[1] = ConstantParam{.name = "out"}; }),
              refused("argument 1 \"out\": the table says a constant int32"));
  EXPECT_THAT(status_of_copy([](EntryPoint& e) { e.params[2] = BufferParam{.name = "n"}; }),
              refused("argument 2 \"n\": the table says a buffer, the kernel has int"));
  EXPECT_THAT(status_of_copy([](EntryPoint& e) {
                e.params[2] = ConstantParam{.name = "n", .type = ElementType::Int64};
              }),
              refused("argument 2 \"n\": the table says a constant int64, the kernel has int"));
}

TEST_F(ExecutableTest, OtherKindsOfImagesAreNoTextures) {
  for (const char* type : {"image2d_array_t", "image1d_t", "image3d_t"})
    EXPECT_THAT(
        status_of(fmt::format("__kernel void k(__read_only {} t) {{ }}", type),
                  {.name = "k", .params = {TextureParam{.name = "t"}}}),
        fails_with(StatusCode::InvalidArgument,
                   fmt::format("the table says a texture rgba32float, the kernel has {}", type)));
}

// Every scalar type of a kernel takes constants of its own type alone.
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
    EXPECT_THAT(status_of(source, wrong),
                fails_with(StatusCode::InvalidArgument,
                           fmt::format("argument {} \"c\": the table says {}, the kernel has {}", i,
                                       describe(wrong.params[i]), types[i].first)));
  }
}

TEST_F(ExecutableTest, WorkgroupsThatCannotRunAreRefused) {
  const DeviceLimits& limits = device_->info().limits;
  EXPECT_THAT(status_of_copy([&](EntryPoint& e) {
                e.workgroup_size = {static_cast<std::uint32_t>(limits.max_workitem_sizes[0] + 1), 1,
                                    1};
              }),
              fails_with(StatusCode::InvalidArgument, "work items along axis 0"));
  EXPECT_THAT(status_of_copy([&](EntryPoint& e) {
                e.workgroup_size = {static_cast<std::uint32_t>(limits.max_workgroup_size), 2, 1};
              }),
              fails_with(StatusCode::InvalidArgument, "x 2 x 1 work items"));
  EXPECT_THAT(status_of(kCopySource, {.name = "fixed",
                                      .params = {BufferParam{.name = "out"}},
                                      .workgroup_size = {16, 1, 1}}),
              fails_with(StatusCode::InvalidArgument, "the kernel requires 8 x 2 x 1"));
}

}  // namespace
}  // namespace texloom::hal
