// Writes package files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "runtime/package/package.h"
#include "support/status.h"

namespace texloom::runtime {

// Writes one package, or several with different names, to a file; the same packages always give the
// same bytes. An earlier file of that name is replaced by the whole content at once, so that a
// process that has the file open keeps the old content; the folder therefore needs room for both
// files. A link is followed; a pipe or a device is written in place.
//
// Fails with InvalidArgument if check_packages() refuses the packages, or if a constant has another
// size than its place; and with Unavailable and the system's message if the file cannot be written.
Status write_package(const Package& package, const std::filesystem::path& file);
Status write_packages(std::span<const Package> packages, const std::filesystem::path& file);

// The content of the file that write_package() would write.
Result<std::vector<std::byte>> package_bytes(std::span<const Package> packages);

}  // namespace texloom::runtime
