// A package that has every kind of part, for tests of package files.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "runtime/package/package.h"
#include "tests/runtime/plan/plan_fixture.h"

namespace texloom::runtime {

using hal::Access;

// Returns bytes that depend on their position.
inline std::vector<std::byte> counted_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 37 + i / 256);
  return bytes;
}

inline const std::vector<std::byte>& weight_bytes() {
  static const std::vector<std::byte> bytes = counted_bytes(std::size_t{4} * 2 * 16);
  return bytes;
}

// X -> scale (a kernel; a loop of launches) -> H -> mine::shrink (a custom operator) -> Y
inline LaunchPlan example_plan() {
  using Kind = TensorRef::Kind;
  LaunchPlan plan;
  plan.scalars = {{"alpha", hal::ElementType::Float32}};
  plan.arguments = {buffer_tensor("X", 128), buffer_tensor("Y", 128)};
  plan.temporaries = {texture_tensor("H", {4, 2}), texture_tensor("right half of H", {2, 2})};
  plan.parts = {{.temporary = 1, .whole = 0, .offset = 0, .origin = {2, 0}}};
  plan.constants = {texture_tensor("W", {4, 2})};
  plan.modules = {{{{KernelFormat::OpenClC, "__kernel void scale() {}", {"-cl-std=CL1.2"}},
                    {KernelFormat::OpenClBinary, std::string("\0binary\xff", 8), {}},
                    {KernelFormat::Metallib, std::string("MTLB\0\xff", 6), {"-std=metal2.3"}},
                    {KernelFormat::OpenClBinary,
                     std::string("\0made\xff", 6),
                     {"-cl-std=CL1.2"},
                     hal::BinaryOrigin{{"opencl", "platform", "vendor", "device", "1.2",
                                        "OpenCL 3.0", "OpenCL C 1.2"},
                                       {1, std::uint64_t{1} << 63}}}},
                   hal::MathMode::Contract}};
  plan.kernels = {{0,
                   {.name = "scale",
                    .params = {hal::BufferParam{"X", Access::Read, 128},
                               hal::TextureParam{.name = "W", .min_extent = {4, 2}},
                               hal::TextureParam{.name = "H",
                                                 .access = Access::Write,
                                                 .min_extent = {4, 2},
                                                 .origin = hal::TextureOrigin::Constants},
                               hal::ConstantParam{"x", hal::ElementType::Int32},
                               hal::ConstantParam{"y", hal::ElementType::Int32},
                               hal::ConstantParam{"alpha", hal::ElementType::Float32},
                               hal::ConstantParam{"row", hal::ElementType::Int32},
                               hal::ConstantParam{"seven", hal::ElementType::Int64}},
                    .workgroup_size = {4, 1, 1},
                    .grid = hal::Grid{Size::of(Size::Op::FloorDiv, Size::symbol(0), 4), 1, 1}}}};
  plan.calls = {{"mine::shrink",
                 3,
                 {Access::Read, Access::Write},
                 Encoding::Host,
                 {{"l", 0.5}, {"mode", std::string("soft")}, {"steps", std::int64_t{-2}}},
                 counted_bytes(5)}};
  const TensorRef h{Kind::Temporary, 0};
  const LaunchStep launch{0,
                          {1, Size::of(Size::Op::Add, Size::loop_variable(7), 1), 1},
                          {TensorRef{Kind::Argument, 0}, TensorRef{Kind::Constant, 0}, h,
                           OriginOf{h, OriginOf::Axis::X}, OriginOf{h, OriginOf::Axis::Y},
                           ScalarValue{0}, LoopVariable{7}, Immediate{7}}};
  plan.steps = {AllocateStep{0}, LoopStep{7, 2, {launch}}, BarrierStep{},
                CallStep{0, {h, TensorRef{Kind::Argument, 1}}}, FreeStep{0}};
  plan.names_barriers = true;
  plan.workspace = WorkspacePlan{{TextureStorage{{8, 4}}}, {{0, 0, {3, 1}}, {0, 0, {5, 1}}}};
  return plan;
}

inline Package example_package() {
  using Kind = TensorRef::Kind;
  const auto floats = hal::ElementType::Float32;
  Package package;
  package.name = "example";
  package.tensors = {{"X", floats, {32}, TensorRole::Input},
                     {"W", floats, {2, 4, 4}, TensorRole::Constant},
                     {"H", floats, {2, 4, 4}, TensorRole::Intermediate},
                     {"Y", floats, {32}, TensorRole::Output}};
  package.nodes = {{"scale_0", "scale", {0, 1}, {2}, {{"axis", std::int64_t{1}}}},
                   {"shrink_0", "mine::shrink", {2}, {3}}};
  package.inputs = {0};
  package.outputs = {3};
  package.numbers = {{1, 0, hal::ElementType::Float16}};
  package.operations = 96.0;
  package.metadata = {{"license", std::string("CC0 – free")}};
  PackageVariant variant;
  variant.target = "opencl -device=adreno";
  variant.needs = {{need::kImages, 1},
                   {need::kMaxImageWidth, 8},
                   {need::kMaxImageHeight, 4},
                   {need::kMaxWorkGroupSize, 4},
                   {need::kLocalBytes, 64},
                   {need::kBufferBytes, 128},
                   {"subgroups", 1}};
  variant.plan = example_plan();
  variant.stores = {{TensorRef{Kind::Argument, 0}, 1, "global", ""},
                    {TensorRef{Kind::Constant, 0}, 2, "texture:weight", "texture[...]"},
                    {TensorRef{Kind::Temporary, 0}, 0, "texture", "texture[...]"},
                    {TensorRef{Kind::Argument, 1}, 3, "global", ""}};
  variant.constants = {{weight_bytes()}};
  variant.nodes = {std::nullopt, 0, std::nullopt, 1, std::nullopt};
  variant.program = "program example stage=legalized\n";
  package.variants = {variant, variant};
  package.variants[1].target = "opencl -device=mali";
  return package;
}

// A package with symbolic sizes.
inline Package symbolic_package() {
  const Size n = Size::symbol(0);
  Package package;
  package.name = "symbolic";
  package.symbols = {"n"};
  package.tensors = {{"A", hal::ElementType::Int32, {n}, TensorRole::Input},
                     {"B", hal::ElementType::Int32, {n}, TensorRole::Output}};
  package.inputs = {0};
  package.outputs = {1};
  PackageVariant variant;
  variant.target = "opencl";
  variant.plan.symbols = {"n"};
  variant.plan.arguments = {{"A", hal::ElementType::Int32, {n}, BufferStorage{}},
                            {"B", hal::ElementType::Int32, {n}, BufferStorage{}}};
  variant.plan.modules = {{{{KernelFormat::OpenClC, "__kernel void copy() {}", {}}}}};
  variant.plan.kernels = {
      {0,
       {.name = "copy",
        .params = {hal::BufferParam{"A", Access::Read, 0}, hal::BufferParam{"B", Access::Write, 0},
                   hal::ConstantParam{"n", hal::ElementType::Int32},
                   hal::ConstantParam{"half", hal::ElementType::Int32}}}}};
  variant.plan.conditions = {
      {"the copy", SizeCondition::Kind::AtLeast, Size::of(Size::Op::Sub, n, 3), 1},
      {"the copy", SizeCondition::Kind::Equal, Size::of(Size::Op::FloorMod, n, 2), 0}};
  variant.plan.steps = {
      LaunchStep{0,
                 {Size::of(Size::Op::Max, n, 1), 1, 1},
                 {TensorRef{TensorRef::Kind::Argument, 0}, TensorRef{TensorRef::Kind::Argument, 1},
                  SymbolValue{0}, SizeValue{Size::of(Size::Op::FloorDiv, n, 2)}}}};
  variant.stores = {{TensorRef{TensorRef::Kind::Argument, 0}, 0, "global", ""},
                    {TensorRef{TensorRef::Kind::Argument, 1}, 1, "global", ""}};
  variant.nodes = {std::nullopt};
  package.variants = {variant};
  return package;
}

}  // namespace texloom::runtime
