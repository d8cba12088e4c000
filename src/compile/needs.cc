#include "compile/needs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "codegen/backend.h"
#include "compile/native/native_code.h"
#include "ir/visit.h"
#include "support/diagnostic.h"

namespace texloom::compile {

using namespace ir;             // the whole file works on IR nodes
using namespace runtime::need;  // and on names of needs
using runtime::VariantNeeds;

namespace {

uint64_t shared_bytes(const Kernel& kernel) {
  uint64_t bytes = 0;
  walk_statements(kernel.body, [&](const Allocate& n) {
    if (n.buffer->memory == MemoryScope::Shared)
      bytes += static_cast<uint64_t>(n.buffer->layout.col_count() * n.buffer->type.bytes());
  });
  return bytes;
}

void add(const runtime::TensorStorage& storage, VariantNeeds& needs) {
  if (const auto* texture = std::get_if<runtime::TextureStorage>(&storage)) {
    needs.require(kImages);
    needs.require(kMaxImageWidth, texture->extent.width);
    needs.require(kMaxImageHeight, texture->extent.height);
  } else {
    needs.require(kBufferBytes, runtime::bytes_of(storage));
  }
}

}  // namespace

VariantNeeds features_of(const Program& program, const Target& target) {
  VariantNeeds needed;
  const auto see = [&](Type type) {
    if (type.element() == Type::f(64)) needed.require(kFloat64);
    // Without this feature, half is only a type of memory, and conversions round float32 values.
    if (type.is_half() && target.features.float16_arithmetic) needed.require(kFloat16Arithmetic);
  };
  for (const Kernel& kernel : program.kernels) {
    for (const KernelParam& param : kernel.params) {
      see(param.buffer ? param.buffer->type : param.scalar->type);
      if (param.buffer && param.buffer->is_texture()) needed.require(kImages);
    }
    // All other values are computed from the results of these nodes, in the same types.
    walk(
        kernel.body, [&](const Load& n) { see(n.type); },
        [&](const TextureLoad& n) { see(n.type); }, [&](const Cast& n) { see(n.type); },
        [&](const FloatImm& n) { see(n.type); });
  }
  return needed;
}

VariantNeeds needs_of(const runtime::LaunchPlan& plan,
                      std::span<const CompiledModule* const> modules) {
  VariantNeeds needs;
  for (const CompiledModule* module : modules) {
    for (const auto& [name, least] : module->features.all()) needs.require(name, least);
    for (const Kernel& kernel : module->program.kernels)
      needs.require(kLocalBytes, shared_bytes(kernel));
  }
  const VariantNeeds processor = processor_needs(plan);
  for (const auto& [name, least] : processor.all()) needs.require(name, least);
  for (const runtime::KernelSpec& kernel : plan.kernels) {
    const auto& [x, y, z] = kernel.entry.workgroup_size;
    needs.require(kMaxWorkGroupSize, uint64_t{x} * y * z);
  }
  for (const auto* tensors : {&plan.arguments, &plan.constants}) {
    for (const runtime::TensorSpec& tensor : *tensors) add(tensor.storage, needs);
  }
  if (plan.workspace) {
    for (const runtime::TensorStorage& object : plan.workspace->objects) add(object, needs);
  } else {
    for (const runtime::TensorSpec& tensor : plan.temporaries) add(tensor.storage, needs);
  }
  return needs;
}

void check_device(const CompiledModule& module, const hal::DeviceInfo& device,
                  const SourceLocation& where) {
  const codegen::Backend& backend = codegen::backend_of(module.target.kind);
  const bool is_interpreted =
      std::ranges::find(device.formats, KernelFormat::Ir) != device.formats.end();
  if (!is_interpreted && !backend.is_prepared(device.formats)) {
    fail(where, Code::NoDevice,
         fmt::format("build it for Target.from_device(device), or call it with arrays of a device "
                     "that runs it: texloom.nd.array(x, texloom.device(\"{}:0\"))",
                     backend.driver),
         "'{}' is built for {}, but {} does not run kernels for it", module.program.name,
         ir::to_string(module.target.kind), device.name);
  }
  // A feature's name in messages, and the target option that turns the feature off.
  struct Row {
    std::string_view need, feature, option;
  };
  constexpr Row kRows[] = {
      {kImages, "textures", "-images=0"},
      {kFloat64, "float64", "-float64=0"},
      {kFloat16Arithmetic, "float16 arithmetic", "-float16_arithmetic=0"},
  };
  for (const Row& row : kRows) {
    const VariantNeeds only{{row.need, module.features.of(row.need)}};
    if (unmet_needs(only, device).empty()) continue;
    fail(where, Code::UnsupportedType,
         fmt::format("build it for Target.from_device(device), or with {}", row.option),
         "'{}' uses {}, which {} does not have", module.program.name, row.feature, device.name);
  }
}

}  // namespace texloom::compile
