// Makes what a program links to run a package without loading code at run time: an object file with
// the kernels, and a C header that declares them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compile/module.h"
#include "runtime/package/package.h"
#include "support/diagnostic.h"

namespace texloom::compile {

struct StaticKernels {
  std::string object;        // for the linker
  std::string header;        // defines texloom_<name>, a texloom_linked_kernels (linked_kernels.h)
  runtime::Package package;  // without code: its kernels are those of the object, by name
};

// `package` has one variant, whose kernels were compiled to `objects`. Names of C are made of
// `name`. Fails with BadOption for a target without object files, and like link_native_code().
StaticKernels static_kernels(runtime::Package package, std::span<const std::string> objects,
                             const std::string& name, const SourceLocation& where);

// The object files of a compiled program; none of one that was loaded from a package.
std::vector<std::string> objects_of(const CompiledModule& module);

}  // namespace texloom::compile
