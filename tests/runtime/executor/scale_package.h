// A package of one kernel with a constant, and an input that nothing reads: "out" = "in" * 3.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "runtime/package/package.h"
#include "tests/runtime/executor/device_program_fixture.h"

namespace texloom::runtime {

inline PackageTensor graph_tensor(const char* name, TensorRole role, std::int64_t elements) {
  PackageTensor tensor;
  tensor.name = name;
  tensor.role = role;
  tensor.shape = {elements};
  return tensor;
}

inline PackageVariant variant_for(const char* target, const VariantNeeds& needs = {}) {
  PackageVariant variant;
  variant.target = target;
  variant.needs = needs;
  return variant;
}

inline LaunchPlan scale_plan() {
  const char* source = R"(
    __kernel void scale(__global const float* in, __global const float* c, __global float* out) {
      int i = get_global_id(0);
      out[i] = in[i] * c[0];
    })";
  LaunchPlan plan = TestPlan{
      .arguments = {buffer_tensor("X", kCount * 4), buffer_tensor("Y", kCount * 4)},
      .temporaries = {},
      .kernels = {{.codes = opencl_c(source),
                   .entry = {.name = "scale",
                             .params = {BufferParam{.name = "in", .min_bytes = kCount * 4},
                                        BufferParam{.name = "c", .min_bytes = 4},
                                        BufferParam{.name = "out",
                                                    .access = Access::Write,
                                                    .min_bytes = kCount * 4}}}}},
      .steps = {launch(0, {kCount, 1, 1},
                       {argument(0), TensorRef{TensorRef::Kind::Constant, 0}, argument(1)})}};
  plan.constants = {buffer_tensor("factor", 4)};
  return plan;
}

// "Y" = "X" + n, where n is a scalar of the call.
inline LaunchPlan add_number_plan(hal::ElementType element = hal::ElementType::Int32) {
  const bool is_real = element == hal::ElementType::Float32;
  return TestPlan{
      .scalars = {{"n", element}},
      .arguments = {buffer_tensor("X", kCount * 4), buffer_tensor("Y", kCount * 4)},
      .temporaries = {},
      .kernels = {{.codes = opencl_c(
                       "__kernel void add(__global const float* x, __global float* y, NUMBER n) {"
                       "  y[get_global_id(0)] = x[get_global_id(0)] + (float)n; }",
                       {is_real ? "-DNUMBER=float" : "-DNUMBER=int"}),
                   .entry = {.name = "add",
                             .params = {BufferParam{.name = "x", .min_bytes = kCount * 4},
                                        BufferParam{.name = "y",
                                                    .access = Access::Write,
                                                    .min_bytes = kCount * 4},
                                        ConstantParam{"n", element}}}}},
      .steps = {launch(0, {kCount, 1, 1}, {argument(0), argument(1), ScalarValue{0}})}};
}

inline Package add_number_package(hal::ElementType element) {
  Package package;
  package.name = "add number";
  package.tensors = {graph_tensor("in", TensorRole::Input, kCount),
                     graph_tensor("out", TensorRole::Output, kCount)};
  package.nodes = {{.name = "add", .op = "add", .inputs = {0}, .outputs = {1}}};
  package.inputs = {0};
  package.outputs = {1};
  PackageVariant variant = variant_for("opencl");
  variant.plan = add_number_plan(element);
  using Kind = TensorRef::Kind;
  variant.stores = {{TensorRef{Kind::Argument, 0}, 0, "global"},
                    {TensorRef{Kind::Argument, 1}, 1, "global"}};
  variant.nodes = {0};
  package.variants = {std::move(variant)};
  return package;
}

inline Package scale_package() {
  static const float kFactor = 3;
  Package package;
  package.name = "scale";
  package.tensors = {graph_tensor("in", TensorRole::Input, kCount),
                     graph_tensor("unused", TensorRole::Input, 1),
                     graph_tensor("factor", TensorRole::Constant, 1),
                     graph_tensor("out", TensorRole::Output, kCount)};
  package.nodes = {{.name = "scale", .op = "multiply", .inputs = {0, 2}, .outputs = {3}}};
  package.inputs = {0, 1};
  package.outputs = {3};
  PackageVariant variant = variant_for("opencl");
  variant.plan = scale_plan();
  using Kind = TensorRef::Kind;
  variant.stores = {{TensorRef{Kind::Argument, 0}, 0, "global"},
                    {},
                    {TensorRef{Kind::Constant, 0}, 2, "global"},
                    {TensorRef{Kind::Argument, 1}, 1, "global"}};
  variant.constants = {{std::as_bytes(std::span(&kFactor, 1))}};
  variant.nodes = {0};
  package.variants = {std::move(variant)};
  return package;
}

}  // namespace texloom::runtime
