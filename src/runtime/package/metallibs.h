// Adds metallibs, which Apple's compiler makes ahead of time, to the Metal kernels of packages.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "runtime/package/package_file.h"
#include "support/function_ref.h"
#include "support/status.h"

namespace texloom::runtime {

// A source in Metal's language, and how it is compiled.
struct MetalSource {
  std::string code;
  std::vector<std::string> build_options;  // of the Metal driver: docs/metal.md
  bool is_fast = false;                    // the math mode allows all of MathMode::Fast

  bool operator==(const MetalSource&) const = default;
};

// Returns a metallib for each source, in their order.
using MetalCompiler =
    FunctionRef<Result<std::vector<std::string>>(std::span<const MetalSource> sources)>;

// Writes the packages of a file to `output`, which may be the same file, with a metallib beside
// each source in Metal's language, in place of an earlier one. `compile` is called once, with all
// different sources. Returns the number of sources, which is 0 for packages without kernels.
//
// Fails with NotFound if there are kernels, but none in Metal's language; with InvalidArgument if
// `compile` returns another number of metallibs than of sources; or with an error of
// PackageFile::constant(), of `compile` or of write_packages(). After an error `output` is
// unchanged. An exception of `compile` is passed on.
Result<std::size_t> add_metallibs(const PackageFile& file, const std::filesystem::path& output,
                                  MetalCompiler compile);

}  // namespace texloom::runtime
