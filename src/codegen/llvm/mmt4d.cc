#include "codegen/llvm/mmt4d.h"

#include <algorithm>
#include <string>

#include "codegen/llvm/emit.h"
#include "support/diagnostic.h"

namespace texloom::codegen::native {

namespace {

constexpr std::string_view kLibrary = "mmt4d";

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

void check_symbols(const ir::Program& program, const ir::Target& target) {
  if (program.foreign.empty()) return;
  const std::vector<Mmt4dVariant> variants = mmt4d_variants(target);
  for (const ir::Foreign& each : program.foreign) {
    if (each.library != kLibrary) {
      fail(each.location, Code::NotProvided, "import functions of the library \"mmt4d\"",
           "the target '{}' has no library '{}', which '{}' is from", to_string(target),
           each.library, each.text);
    }
    const bool is_known = std::ranges::any_of(
        variants, [&](const Mmt4dVariant& variant) { return variant.name == each.text; });
    if (is_known) continue;
    fail(each.location, Code::NotProvided,
         "choose a tile by texloom.target.mmt4d_tile for the target that you build for",
         "'{}' is not a micro-kernel that the target '{}' can run", each.text, to_string(target));
  }
  const auto pointer = [](const ir::ForeignParam& param) { return param.is_pointer; };
  for (const ir::Foreign& each : program.foreign) {
    const bool fits = each.result == ir::kInt32 && each.params.size() == 5 &&
                      std::all_of(each.params.begin(), each.params.begin() + 3, pointer) &&
                      each.params[3] == ir::ForeignParam{ir::kInt64} &&
                      each.params[4] == ir::ForeignParam{ir::kInt32};
    if (fits) continue;
    fail(each.location, Code::BadForeignCall,
         "pass pointers to the sums, the left and the right side, k1 as int64 and flags as int32",
         "the arguments of '{}' are not those of a micro-kernel", each.text);
  }
}

}  // namespace texloom::codegen::native
