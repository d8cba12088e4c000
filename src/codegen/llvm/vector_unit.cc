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
  if (machine.architecture == "aarch64")
    return {.bytes = 16, .registers = 32, .has_dots_of_bytes = has("dotprod")};
  VectorUnit unit{.bytes = has("avx") ? 32 : 16, .registers = 16, .has_dots_of_pairs = true};
  unit.has_dots_of_bytes = has("avx512vnni") || has("avxvnni");
  if (has("avx512vl")) {
    unit.bytes = has("prefer-256-bit") ? 32 : 64;
    unit.registers = 32;
  }
  return unit;
}

}  // namespace texloom::codegen::native
