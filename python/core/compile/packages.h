// Opens and writes files of packages for Python. Errors are reported at the user's line.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "compile/native/static_kernels.h"
#include "runtime/package/package_file.h"
#include "support/status.h"

namespace texloom::python {

// Whether native code of a package is taken: it runs with the rights of this process.
enum class NativeKernels { Refuse, Take };

// Opens a file; `path` is in the file system's encoding. Fails with FileError if it cannot be read,
// and with BadPackage if it is not a package, is damaged, or has only code that is refused.
std::shared_ptr<const runtime::PackageFile> open_package(const std::string& path,
                                                         NativeKernels native);

// Writes the package of kernels that a program links, if it is to be written to a path; returns the
// object file and the header.
std::pair<pybind11::bytes, std::string> write_static(const compile::StaticKernels& kernels,
                                                     const std::optional<pybind11::bytes>& path);

// Fails with FileError if the file could not be written, and with BadPackage if the packages cannot
// be stored.
void throw_if_not_written(const Status& status);

}  // namespace texloom::python
