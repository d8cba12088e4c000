#include "codegen/llvm/vector_unit.h"

#include <algorithm>
#include <string_view>

#include "codegen/llvm/emit.h"

namespace texloom::codegen::native {

VectorUnit vector_unit(const ir::Target& target) {
  const MachineDescription machine = describe_machine(target);
  const auto has = [&](std::string_view feature) {
    return std::ranges::find(machine.features, feature) != machine.features.end();
  };
  if (machine.architecture == "aarch64") return {.bytes = 16, .registers = 32};
  if (has("avx512vl")) return {.bytes = has("prefer-256-bit") ? 32 : 64, .registers = 32};
  return {.bytes = has("avx") ? 32 : 16, .registers = 16};
}

}  // namespace texloom::codegen::native
