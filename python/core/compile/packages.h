// Files of packages that Python reads and writes. Errors are at the user's line.
#pragma once

#include <memory>
#include <string>

#include "runtime/package/package_file.h"
#include "support/status.h"

namespace texloom::python {

// `path` is in the file system's encoding. Fails with FileError if the file cannot be read, and
// with BadPackage if it is not a package, or is damaged.
std::shared_ptr<const runtime::PackageFile> open_package(const std::string& path);

// Fails with FileError if packages could not be written to a file, and with BadPackage if they
// cannot be stored.
void throw_if_not_written(const Status& status);

}  // namespace texloom::python
