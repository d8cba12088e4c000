#include "runtime/package/kernel_policy.h"

#include <cstddef>
#include <string_view>
#include <vector>

#include "runtime/plan/host_parts.h"

namespace texloom::runtime {
namespace {

constexpr std::string_view kTakeNative =
    "if you trust the file, take it: KernelPolicy{.takes_native = true} in C++, "
    "texloom_graph_load_native() in C, native=True in Python, --native in commands";

// Unavailable, saying why, if a module is left without code, or a part is for the host.
Status leave_out(LaunchPlan& plan, const KernelPolicy& policy) {
  Status left;
  std::vector<ModuleSpec>& modules = plan.modules;
  if (!policy.takes_native && has_host_parts(plan)) {
    left = make_error(StatusCode::Unavailable,
                      "parts of it are only native code, which is refused; help: {}", kTakeNative);
    for (OperatorCall& call : plan.calls) {
      if (is_host_part(call)) call.payload.clear();
    }
    for (ModuleSpec& module : modules) module.codes.clear();  // no device gets the variant
    return left;
  }
  for (std::size_t i = 0; i < modules.size(); ++i) {
    std::vector<hal::KernelCode>& codes = modules[i].codes;
    const bool is_text = traits_of(codes.front().format).is_text;
    std::erase_if(codes,
                  [&policy](const hal::KernelCode& code) { return !policy.takes(code.format); });
    if (!codes.empty() || !left.ok()) continue;
    left =
        make_error(StatusCode::Unavailable, "module {} has only {}, which is refused; help: {}", i,
                   is_text ? "source" : "native code",
                   is_text ? "open the file with KernelPolicy{.takes_source = true}" : kTakeNative);
  }
  return left;
}

}  // namespace

bool KernelPolicy::takes(KernelFormat format) const {
  const KernelFormatTraits& traits = traits_of(format);
  return (takes_source || !traits.is_text) && (takes_native || !traits.is_native);
}

Status leave_out_kernels(std::span<Package> packages, const KernelPolicy& policy) {
  for (Package& package : packages) {
    Status first;
    bool is_any_left = false;
    for (PackageVariant& variant : package.variants) {
      const Status left = leave_out(variant.plan, policy);
      is_any_left = is_any_left || left.ok();
      if (first.ok()) first = left;
    }
    if (!is_any_left) return first;
  }
  return {};
}

}  // namespace texloom::runtime
