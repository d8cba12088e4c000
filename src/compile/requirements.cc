#include "compile/requirements.h"

#include "ir/visit.h"
#include "support/diagnostic.h"

namespace texloom::compile {

using namespace ir;  // the whole file works on IR nodes

namespace {

// Checking memory, conversions and constants is enough: all other values come from these.
bool has_half_values(const Program& program) {
  bool found = false;
  const auto see = [&](Type type) { found = found || type.element() == Type::f(16); };
  for (const Kernel& kernel : program.kernels) {
    walk(
        kernel.body, [&](const Load& n) { see(n.type); },
        [&](const TextureLoad& n) { see(n.type); }, [&](const Cast& n) { see(n.type); },
        [&](const FloatImm& n) { see(n.type); });
  }
  return found;
}

}  // namespace

Requirements requirements_of(const Program& program, const Target& target) {
  return {.float16_arithmetic = target.features.float16_arithmetic && has_half_values(program)};
}

void check_requirements(const CompiledModule& module, const hal::DeviceInfo& device,
                        const SourceLocation& where) {
  if (!module.requirements.float16_arithmetic || device.features.float16_arithmetic) return;
  fail(where, Code::UnsupportedType,
       "build it for Target.from_device(device), or without -float16_arithmetic=1",
       "'{}' computes in half, and {} has no half arithmetic", module.program.name, device.name);
}

}  // namespace texloom::compile
