#include "compile/requirements.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/visit.h"
#include "support/diagnostic.h"

namespace texloom::compile {

using namespace ir;  // the whole file works on IR nodes

namespace {

// The types of the parameters and of all values, without lanes.
struct UsedTypes {
  bool float16 = false, float64 = false;
};

UsedTypes used_types(const Program& program) {
  UsedTypes used;
  const auto see = [&](Type type) {
    used.float16 |= type.is_half();
    used.float64 |= type.element() == Type::f(64);
  };
  for (const Kernel& kernel : program.kernels) {
    for (const KernelParam& param : kernel.params) {
      see(param.buffer ? param.buffer->type : param.scalar->type);
    }
    // All other values come from these.
    walk(
        kernel.body, [&](const Load& n) { see(n.type); },
        [&](const TextureLoad& n) { see(n.type); }, [&](const Cast& n) { see(n.type); },
        [&](const FloatImm& n) { see(n.type); });
  }
  return used;
}

bool has_textures(const Program& program) {
  return std::any_of(program.kernels.begin(), program.kernels.end(), [](const Kernel& kernel) {
    return std::any_of(kernel.params.begin(), kernel.params.end(), [](const KernelParam& param) {
      return param.buffer && param.buffer->is_texture();
    });
  });
}

}  // namespace

// Where half is only a type of memory, conversions to it round values, which are no half values.
Requirements requirements_of(const Program& program, const Target& target) {
  const UsedTypes used = used_types(program);
  return {.images = has_textures(program),
          .float64 = used.float64,
          .float16_arithmetic = used.float16 && target.features.float16_arithmetic};
}

void check_requirements(const CompiledModule& module, const hal::DeviceInfo& device,
                        const SourceLocation& where) {
  struct Row {
    bool needed, present;
    std::string_view feature, option;
  };
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
