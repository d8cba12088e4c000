// The options of Metal's compiler, as an executable's code states them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/hal/executable.h"
#include "support/status.h"

namespace texloom::hal::metal {

struct BuildOptions {
  // The major and minor number of the language version; if absent, the system's newest version.
  std::optional<std::pair<unsigned, unsigned>> language;
  // The number of threads in a SIMD-group that the kernels rely on, if they rely on one.
  std::optional<std::uint64_t> simd_width;
  std::vector<std::pair<std::string, std::string>> macros;  // names and values
  MathMode math = MathMode::Strict;
};

// Code with its parsed options.
struct ProgramCode {
  KernelCode code;
  BuildOptions options;
};

// Reads "-std=metal3.1" (also macos-metal2.3 and ios-metal2.3), "-simd-width=32", "-DNAME",
// "-DNAME=VALUE", and "-ffast-math" and "-fno-fast-math". InvalidArgument: any other option, or one
// that relaxes arithmetic in a way that `math` does not allow.
Result<BuildOptions> parse_build_options(const std::vector<std::string>& options, MathMode math);

}  // namespace texloom::hal::metal
