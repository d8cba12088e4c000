// Reads the index of a package file. Only for the sources of this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/package/package.h"
#include "runtime/package/package_file.h"
#include "runtime/package/section_table.h"
#include "support/status.h"

namespace texloom::runtime {

struct ReadPackages {
  std::string writer;  // the version of Texloom that wrote the file, or ""
  std::vector<Package> packages;
  // The sections of the constants: by package, variant and constant.
  std::vector<std::vector<std::vector<std::uint32_t>>> constants;
};

// Returns the places of sections that an index states. Fails with InvalidArgument if the index is
// not a FlatBuffer of the schema.
// `index` begins at a multiple of 8 bytes, as do offsets in it.
Result<std::vector<SectionPlace>> read_sections(std::span<const std::byte> index);

// Returns the version of Texloom that wrote an index, or "" if the version is not found. The index
// may be of another format.
std::string writer_of(std::span<const std::byte> index);

// Copies the packages of an index that read_sections() has accepted, and code from the sections.
// Checks the numbers of enumerators and sections. The caller must check all other indices by
// check_packages().
Result<ReadPackages> read_packages(std::span<const std::byte> index, SectionTable& sections,
                                   const PackageOptions& options);

}  // namespace texloom::runtime
