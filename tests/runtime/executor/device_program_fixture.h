// A fixture with a device, programs, and a plan of two kernels through a texture.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/executor/device_program.h"
#include "runtime/executor/plan_barriers.h"
#include "runtime/plan/workspace.h"
#include "tests/runtime/opencl_fixture.h"
#include "tests/runtime/plan/plan_fixture.h"

namespace texloom::runtime {

using hal::Access;
using hal::BufferBinding;
using hal::BufferParam;
using hal::ConstantParam;
using hal::Extent2D;
using hal::fails_with;
using hal::opencl_c;
using hal::TexelFormat;
using hal::TextureBinding;
using hal::TextureOrigin;
using hal::TextureParam;

inline constexpr Extent2D kExtent{8, 6};
inline constexpr std::size_t kCount = 8 * 6 * 4;

inline constexpr const char* kCopyIn = R"(
  __kernel void copy_in(__global const float* in, __write_only image2d_t out) {
    int x = get_global_id(0), y = get_global_id(1);
    write_imagef(out, (int2)(x, y), vload4(y * 8 + x, in));
  })";
inline constexpr const char* kAddOne = R"(
  __constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
  __kernel void add_one(__read_only image2d_t in, __global float* out) {
    int x = get_global_id(0), y = get_global_id(1);
    vstore4(read_imagef(in, s, (int2)(x, y)) + 1.0f, y * 8 + x, out);
  })";

inline TestKernel copy_in_kernel() {
  return {.codes = opencl_c(kCopyIn, {"-cl-std=CL1.2"}),
          .entry = {.name = "copy_in",
                    .params = {BufferParam{.name = "in", .min_bytes = kCount * 4},
                               TextureParam{
                                   .name = "out", .access = Access::Write, .min_extent = kExtent}},
                    .workgroup_size = {4, 2, 1}}};
}
inline TestKernel add_one_kernel() {
  return {
      .codes = opencl_c(kAddOne, {"-cl-std=CL1.2"}),
      .entry = {
          .name = "add_one",
          .params = {TextureParam{.name = "in", .min_extent = kExtent},
                     BufferParam{.name = "out", .access = Access::Write, .min_bytes = kCount * 4}},
          .workgroup_size = {8, 1, 1}}};
}

// Makes a kernel that counts its threads.
inline TestKernel count_kernel() {
  return {.codes = opencl_c("__kernel void count(__global int* x) { atomic_add(x, 1); }"),
          .entry = {.name = "count",
                    .params = {BufferParam{.name = "x", .access = Access::ReadWrite}}}};
}

inline LaunchPlan add_one_plan() {
  return TestPlan{.arguments = {buffer_tensor("X", kCount * 4), buffer_tensor("Y", kCount * 4)},
                  .temporaries = {texture_tensor("X.texture", kExtent)},
                  .kernels = {copy_in_kernel(), add_one_kernel()},
                  .steps = {AllocateStep{0}, launch(0, {2, 3, 1}, {argument(0), temporary(0)}),
                            launch(1, {1, 6, 1}, {temporary(0), argument(1)}), FreeStep{0}}};
}

inline std::vector<float> ramp(std::size_t count, float start = 0) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = start + static_cast<float>(i);
  return values;
}

class DeviceProgramTest : public hal::OpenClTest {
 protected:
  // Adds the barriers that are computed ahead of time to the plan. Recording refuses a plan that
  // lacks a barrier, so all tests check the barriers.
  void name_barriers(LaunchPlan& plan) {
    if (!plan.workspace) {
      const auto workspace = plan_workspace(plan, device_->info().limits, kQuickWorkspace);
      TL_ASSERT_OK(workspace.status());
      plan.workspace = *workspace;
    }
    TL_ASSERT_OK(add_barriers(plan));
  }
  std::shared_ptr<DeviceProgram> make_program(LaunchPlan plan, const CommitPolicy& policy = {}) {
    if (plan.symbols.empty()) name_barriers(plan);
    auto program = DeviceProgram::create(device_, std::move(plan),
                                         {.policy = policy, .checks_barriers = true});
    EXPECT_TRUE(program.ok()) << program.status().to_string();
    return program.ok() ? *program : nullptr;
  }
  auto refused(const std::string& part) { return fails_with(StatusCode::InvalidArgument, part); }
};

}  // namespace texloom::runtime
