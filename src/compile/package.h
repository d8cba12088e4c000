// Converts compiled modules to packages, and back.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "compile/module.h"
#include "runtime/package/package.h"
#include "support/source_location.h"

namespace texloom::compile {

// A package with a graph of one node, whose tensors are the arguments of the module. The kernels
// are stored as source and, for the interpreter, in the text form. Fails with BadPackage, at
// `where`, for a checked module: a package has no place for the source lines that its checks
// report.
runtime::Package package_of(const CompiledModule& module, const SourceLocation& where);

// The module of variant `number` of a package that package_of() made, with the kernels' stored
// source. `file` is the name of the program's text in messages. The package comes from a
// PackageFile, which has checked the package; the parser and the verifier check the program. Fails
// with BadPackage, at `where`, if the program does not match the rest of the package, or if there
// is no program, as in the package of a larger graph.
CompiledModule module_of(const runtime::Package& package, size_t number, const std::string& file,
                         const SourceLocation& where);

// Fails with BadPackage.
[[noreturn]] void refuse_module_file(std::string_view problem, const SourceLocation& where);

}  // namespace texloom::compile
