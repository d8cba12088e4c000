#include "compile/large_kernels.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "support/byte_text.h"

namespace texloom::compile {

namespace {

// The unrolling with the most stores in the kernel of this number; null if it has none.
const lower::Unrolling* largest_unrolling(std::size_t kernel,
                                          std::span<const lower::Unrolling> unrollings) {
  const lower::Unrolling* largest = nullptr;
  for (const lower::Unrolling& each : unrollings) {
    if (each.kernel == kernel && (largest == nullptr || each.stores > largest->stores)) {
      largest = &each;
    }
  }
  return largest;
}

// The kernel's part of its source.
std::size_t source_bytes(const CompiledKernel& kernel) {
  return kernel.code->bytes.size() / kernel.code->entries.size();
}

Diagnostic warning_of(const CompiledKernel& kernel, const SourceLocation& location,
                      const lower::Unrolling* unrolling) {
  std::string message =
      fmt::format("the kernel '{}' has {} of source, which devices compile slowly", kernel.name,
                  byte_text(source_bytes(kernel)));
  if (unrolling == nullptr) {
    return {Severity::Warning,
            Code::LargeKernel,
            location,
            std::move(message),
            "compute less in one kernel, or keep more of its loops",
            {}};
  }
  message += fmt::format(": the loop '{}' is unrolled to {} copies with {} stores", unrolling->loop,
                         unrolling->copies, unrolling->stores);
  return {Severity::Warning,
          Code::LargeKernel,
          unrolling->location,
          std::move(message),
          "split the axis and unroll the inner part, or none of it",
          {}};
}

}  // namespace

std::vector<Diagnostic> large_kernel_warnings(const CompiledModule& module,
                                              std::span<const lower::Unrolling> unrollings) {
  std::vector<Diagnostic> warnings;
  for (std::size_t i = 0; i < module.kernels.size(); ++i) {
    if (source_bytes(module.kernels[i]) <= kLargeSource) continue;
    warnings.push_back(warning_of(module.kernels[i], module.program.kernels[i].location,
                                  largest_unrolling(i, unrollings)));
  }
  return warnings;
}

}  // namespace texloom::compile
