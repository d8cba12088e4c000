#include "codegen/llvm/mmt4d.h"

#include <algorithm>
#include <string>

#include "codegen/llvm/emit.h"

namespace texloom::codegen::native {

namespace {

struct MachineGroup {
  std::string_view name, architecture, features;
};

constexpr MachineGroup kGroups[] = {
#define MMT4D_TARGET(target, architecture, features) {#target, #architecture, features},
#include "codegen/llvm/microkernels/variants.def"
};

constexpr Mmt4dVariant kVariants[] = {
#define MMT4D_TILE(types, m0, n0, k0, target) \
  {"mmt4d_" #m0 "x" #n0 "x" #k0 "_" #types "_" #target, #types, #target, m0, n0, k0},
#include "codegen/llvm/microkernels/variants.def"
};

bool can_run(const MachineDescription& machine, const MachineGroup& group) {
  if (group.architecture != "any" && group.architecture != machine.architecture) return false;
  std::string_view rest = group.features;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(','), rest.size());
    const std::string_view feature = rest.substr(0, end);
    if (std::ranges::find(machine.features, feature) == machine.features.end()) return false;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return true;
}

}  // namespace

std::vector<Mmt4dVariant> mmt4d_variants(const ir::Target& target) {
  MachineDescription machine;
  if (target.kind == ir::TargetKind::Llvm) machine = describe_machine(target);
  std::vector<Mmt4dVariant> found;
  for (const MachineGroup& group : kGroups) {
    if (!can_run(machine, group)) continue;
    std::ranges::copy_if(kVariants, std::back_inserter(found),
                         [&](const Mmt4dVariant& each) { return each.target == group.name; });
  }
  return found;
}

}  // namespace texloom::codegen::native
