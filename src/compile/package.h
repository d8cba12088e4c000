// Converts compiled modules to packages, and back.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "compile/module.h"
#include "runtime/package/package.h"
#include "support/source_location.h"

namespace texloom::compile {

// A graph of one node: its tensors are the arguments of the module, and its kernels come as source
// and in the text form, for the interpreter. Fails with BadPackage, at `where`, for a checked
// module: a package has no place for the lines that it reports.
runtime::Package package_of(const CompiledModule& module, const SourceLocation& where);

// The module of the variant of this number of such a package, with the kernels' source as it is
// stored. `file` is the name of the program's text in messages. The package comes from a
// PackageFile, which has checked it; the parser and the verifier check the program. Fails with
// BadPackage, at `where`, if the program does not fit the rest of the package, or there is none, as
// in the package of a larger graph.
CompiledModule module_of(const runtime::Package& package, size_t number, const std::string& file,
                         const SourceLocation& where);

// Fails with BadPackage.
[[noreturn]] void refuse_module_file(std::string_view problem, const SourceLocation& where);

}  // namespace texloom::compile
