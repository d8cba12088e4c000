// Opens and writes files of packages for Python. Errors are reported at the user's line.
#pragma once

#include <memory>
#include <string>

#include "runtime/package/package_file.h"
#include "support/status.h"

namespace texloom::python {

// Opens a file; `path` is in the file system's encoding. Fails with FileError if it cannot be read,
// and with BadPackage if it is not a package, or is damaged.
std::shared_ptr<const runtime::PackageFile> open_package(const std::string& path);

// Fails with FileError if the file could not be written, and with BadPackage if the packages cannot
// be stored.
void throw_if_not_written(const Status& status);

}  // namespace texloom::python
