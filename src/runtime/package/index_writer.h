// Writes the index of a package file. Only for the sources of this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "runtime/package/package.h"
#include "runtime/package/package_format.h"

namespace texloom::runtime {

// Collects the sections of a file to write, without copying their bytes.
class SectionList {
 public:
  struct Section {
    std::span<const std::byte> bytes;
    std::uint64_t offset = 0;  // in the file
    std::uint64_t checksum = 0;
  };

  // Returns the number of the section.
  std::uint32_t add(std::span<const std::byte> bytes);
  // Like add(), but equal bytes that this function added before are not added again.
  std::uint32_t add_shared(std::span<const std::byte> bytes);

  const std::vector<Section>& sections() const { return sections_; }
  // The offset at which the next section begins.
  std::uint64_t end() const { return end_; }

 private:
  std::vector<Section> sections_;
  std::multimap<std::uint64_t, std::uint32_t> shared_;  // by checksum
  std::uint64_t end_ = sizeof(PackageHeader);
};

// Adds the bulk data of the packages to `sections`, and returns the FlatBuffer of everything else.
// The packages have passed check_packages().
std::vector<std::byte> write_index(std::span<const Package> packages, SectionList& sections);

}  // namespace texloom::runtime
