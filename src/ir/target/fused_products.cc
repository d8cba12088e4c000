#include "ir/target/fused_products.h"

#include <algorithm>
#include <string_view>

#include "support/processor/processor.h"

namespace texloom::ir {

namespace {

// LLVM's names of the processors of x86-64 without FMA; those to come have it.
constexpr std::string_view kWithout[] = {"",
                                         "amdfam10",
                                         "athlon-fx",
                                         "athlon64",
                                         "athlon64-sse3",
                                         "atom",
                                         "barcelona",
                                         "bdver1",
                                         "bonnell",
                                         "btver1",
                                         "btver2",
                                         "core-avx-i",
                                         "core2",
                                         "corei7",
                                         "corei7-avx",
                                         "generic",
                                         "goldmont",
                                         "goldmont-plus",
                                         "goldmont_plus",
                                         "ivybridge",
                                         "k8",
                                         "k8-sse3",
                                         "nehalem",
                                         "nocona",
                                         "opteron",
                                         "opteron-sse3",
                                         "penryn",
                                         "sandybridge",
                                         "silvermont",
                                         "slm",
                                         "tremont",
                                         "westmere",
                                         "x86-64",
                                         "x86-64-v2"};

// Sets of instructions that FMA is built on: without one of them, there is no FMA.
constexpr std::string_view kBelow[] = {"fma",   "avx",  "sse4.2", "sse4.1",
                                       "ssse3", "sse3", "sse2",   "sse"};

bool has_processor(std::string_view cpu) {
  if (cpu != "native") return std::ranges::find(kWithout, cpu) == std::end(kWithout);
  const auto& own = processor_features();
  return std::ranges::find(own, std::string_view("fma")) != own.end();
}

}  // namespace

bool has_fused_products(const Machine& machine) {
  const bool is_arm = machine.triple.empty() ? processor_architecture() == "aarch64"
                                             : machine.triple.starts_with("aarch64");
  if (is_arm) return true;
  bool has = has_processor(machine.cpu);
  for (std::string_view rest = machine.features; !rest.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const std::string_view feature = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (feature.empty()) continue;
    const std::string_view name = feature.substr(1);
    const bool brings_it = name == "fma" || name.starts_with("avx512") || name.starts_with("avx10");
    if (feature[0] == '+' && brings_it) has = true;
    if (feature[0] == '-' && std::ranges::find(kBelow, name) != std::end(kBelow)) has = false;
  }
  return has;
}

}  // namespace texloom::ir
