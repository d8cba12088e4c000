#include "runtime/package/kernel_policy.h"

#include <cstddef>
#include <vector>

namespace texloom::runtime {
namespace {

// Unavailable, saying why, if a module is left without code.
Status leave_out(std::vector<ModuleSpec>& modules, const KernelPolicy& policy) {
  Status left;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    std::vector<hal::KernelCode>& codes = modules[i].codes;
    const bool is_text = traits_of(codes.front().format).is_text;
    std::erase_if(codes,
                  [&policy](const hal::KernelCode& code) { return !policy.takes(code.format); });
    if (!codes.empty() || !left.ok()) continue;
    left =
        make_error(StatusCode::Unavailable, "module {} has only {}, which is refused; help: {}", i,
                   is_text ? "source" : "native code",
                   is_text ? "open the file with KernelPolicy{.takes_source = true}"
                           : "if you trust the file, take it: KernelPolicy{.takes_native = true} "
                             "in C++, texloom_graph_load_native() in C, native=True in Python, "
                             "--native in commands");
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
      const Status left = leave_out(variant.plan.modules, policy);
      is_any_left = is_any_left || left.ok();
      if (first.ok()) first = left;
    }
    if (!is_any_left) return first;
  }
  return {};
}

}  // namespace texloom::runtime
