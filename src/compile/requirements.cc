#include "compile/requirements.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/backend.h"
#include "ir/visit.h"
#include "support/diagnostic.h"

namespace texloom::compile {

using namespace ir;  // the whole file works on IR nodes

Requirements requirements_of(const Program& program, const Target& target) {
  Requirements needed;
  const auto see = [&](Type type) {
    needed.float64 |= type.element() == Type::f(64);
    // Otherwise half is only a type of memory, and conversions to it round float32 values.
    needed.float16_arithmetic |= type.is_half() && target.features.float16_arithmetic;
  };
  for (const Kernel& kernel : program.kernels) {
    for (const KernelParam& param : kernel.params) {
      see(param.buffer ? param.buffer->type : param.scalar->type);
      needed.images |= param.buffer && param.buffer->is_texture();
    }
    // All other values come from these.
    walk(
        kernel.body, [&](const Load& n) { see(n.type); },
        [&](const TextureLoad& n) { see(n.type); }, [&](const Cast& n) { see(n.type); },
        [&](const FloatImm& n) { see(n.type); });
  }
  return needed;
}

void check_requirements(const CompiledModule& module, const hal::DeviceInfo& device,
                        const SourceLocation& where) {
  struct Row {
    bool needed, present;
    std::string_view feature, option;
  };
  // Other drivers run kernels of every kind in the interpreter.
  const std::string_view kind = ir::to_string(module.target.kind);
  const bool has_kernels = std::any_of(
      codegen::backends().begin(), codegen::backends().end(),
      [&](const codegen::Backend& row) { return to_string(row.kind) == device.driver; });
  if (has_kernels && device.driver != kind) {
    fail(where, Code::NoDevice,
         fmt::format("build it for Target.from_device(device), or call it with arrays of a device "
                     "that runs it: texloom.nd.array(x, texloom.device(\"{}:0\"))",
                     kind),
         "'{}' is built for {}, whose kernels {} does not run", module.program.name, kind,
         device.name);
  }
  const Requirements& needed = module.requirements;
  const hal::DeviceFeatures& present = device.features;
  const Row rows[] = {
      {needed.images, present.images, "textures", "-images=0"},
      {needed.float64, present.float64, "float64", "-float64=0"},
      {needed.float16_arithmetic, present.float16_arithmetic, "float16 arithmetic",
       "-float16_arithmetic=0"},
  };
  for (const Row& row : rows) {
    if (!row.needed || row.present) continue;
    fail(where, Code::UnsupportedType,
         fmt::format("build it for Target.from_device(device), or with {}", row.option),
         "'{}' uses {}, which {} does not have", module.program.name, row.feature, device.name);
  }
}

}  // namespace texloom::compile
