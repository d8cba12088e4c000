// Reads package files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "runtime/package/kernel_policy.h"
#include "runtime/package/package.h"
#include "support/status.h"

namespace texloom::runtime {

struct PackageOptions {
  KernelPolicy kernels = {};
};

// An open package file. The structure of a file is not trusted: open() checks everything that a
// package refers to (package_check.h), and allocates memory in proportion to the file. Each section
// has a checksum, which is verified when the section is first used: the checksum of code when the
// file is opened, and the checksum of a constant by constant(). Checksums detect damage, not
// forgery.
//
// Thread safe. The file is mapped into memory until the object is released; it must not be changed
// in place while it is open, but it may be replaced, as write_package() does.
class PackageFile {
 public:
  ~PackageFile();
  PackageFile(const PackageFile&) = delete;
  PackageFile& operator=(const PackageFile&) = delete;

  // Fails with Unavailable and the system's message if the file cannot be read; with
  // InvalidArgument if the file is not a package, is damaged, was written for another version of
  // the format, or is refused by check_packages(); and with Unavailable if no variant of a package
  // keeps code for all of its kernels under `options.kernels`. Messages say what to do.
  static Result<std::shared_ptr<const PackageFile>> open(const std::filesystem::path& file,
                                                         const PackageOptions& options = {});
  // Opens the content of a file, which is copied.
  static Result<std::shared_ptr<const PackageFile>> open(std::span<const std::byte> content,
                                                         const PackageOptions& options = {});

  // The packages of the file: at least one, with different names. The bytes of constants are
  // absent: see constant().
  std::span<const Package> packages() const;
  // The first package, which in most files is the only one.
  const Package& package() const { return packages().front(); }

  // The version of Texloom that wrote the file, such as "0.1.0"; "" if the file does not say.
  const std::string& writer() const;

  // The bytes of a constant in the layout of its storage, from the mapped file; valid as long as
  // this object. InvalidArgument if there is no such constant, or if its section is damaged.
  Result<std::span<const std::byte>> constant(std::size_t variant, std::size_t index,
                                              std::size_t package = 0) const;

  // Copies of the packages with the bytes of their constants, to be changed and written again
  // (package_writer.h). Constants are valid as long as this object. The errors of constant().
  Result<std::vector<Package>> whole_packages() const;

 private:
  struct State;
  explicit PackageFile(std::unique_ptr<State> state);
  static Result<std::shared_ptr<const PackageFile>> read(std::unique_ptr<State> state,
                                                         const PackageOptions& options);

  std::unique_ptr<State> state_;
};

}  // namespace texloom::runtime
