// Short functions to write launch plans in tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/plan/plan.h"

namespace texloom::runtime {

inline TensorSpec texture_tensor(std::string name, hal::Extent2D extent,
                                 hal::TexelFormat format = hal::TexelFormat::Rgba32Float) {
  return {.name = std::move(name),
          .element = hal::channel_type(format),
          .shape = {extent.height, extent.width, 4},
          .storage = TextureStorage{extent, format},
          .layout = {.shape = {extent.height, extent.width, 4},
                     .rows = {{0, 1, extent.height}},
                     .cols = {{1, 1, extent.width}},
                     .lanes = {{2, 1, 4}}}};
}
inline TensorSpec buffer_tensor(std::string name, std::uint64_t bytes) {
  const auto elements = static_cast<std::int64_t>(bytes / 4);
  return {.name = std::move(name),
          .element = hal::ElementType::Float32,
          .shape = {elements},
          .storage = BufferStorage{bytes},
          .layout = row_major({elements})};
}

// A kernel that is the only one of its module.
struct TestKernel {
  std::vector<hal::KernelCode> codes = {};
  hal::EntryPoint entry;
  hal::MathMode math = hal::MathMode::Strict;
};
inline void add_kernel(LaunchPlan& plan, TestKernel kernel) {
  plan.kernels.push_back(
      {static_cast<std::uint32_t>(plan.modules.size()), std::move(kernel.entry)});
  plan.modules.push_back({std::move(kernel.codes), kernel.math});
}
// A plan with one module per kernel.
struct TestPlan {
  std::vector<std::string> symbols = {};
  std::vector<ScalarSpec> scalars = {};
  std::vector<TensorSpec> arguments = {};
  std::vector<TensorSpec> temporaries = {};
  std::vector<TestKernel> kernels = {};
  std::vector<Step> steps = {};

  operator LaunchPlan() const {
    LaunchPlan plan{.symbols = symbols,
                    .scalars = scalars,
                    .arguments = arguments,
                    .temporaries = temporaries,
                    .modules = {},
                    .kernels = {},
                    .steps = steps};
    for (const TestKernel& kernel : kernels) add_kernel(plan, kernel);
    return plan;
  }
};

inline Operand argument(std::uint32_t i) { return TensorRef{TensorRef::Kind::Argument, i}; }
inline Operand temporary(std::uint32_t i) { return TensorRef{TensorRef::Kind::Temporary, i}; }
inline Operand origin_x(const Operand& tensor) {
  return OriginOf{std::get<TensorRef>(tensor), OriginOf::Axis::X};
}
inline Operand origin_y(const Operand& tensor) {
  return OriginOf{std::get<TensorRef>(tensor), OriginOf::Axis::Y};
}

inline Step launch(std::uint32_t kernel, std::array<Size, 3> groups,
                   std::vector<Operand> operands) {
  return LaunchStep{kernel, std::move(groups), std::move(operands)};
}
inline Step loop(std::uint32_t slot, Size extent, std::vector<Step> body) {
  return LoopStep{slot, std::move(extent), std::move(body)};
}

}  // namespace texloom::runtime
