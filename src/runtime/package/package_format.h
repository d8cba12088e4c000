// The layout of a package file:
//
//     header      64 bytes
//     sections    bulk data: constants, code, payloads, programs; each at a multiple of 64 bytes
//     index       a FlatBuffer (package.fbs), at a multiple of 64 bytes, up to the end of the file
//
// Numbers are little-endian. Gaps before sections are zero.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace texloom::runtime {

static_assert(std::endian::native == std::endian::little, "package files are read in place");

inline constexpr std::array kPackageMagic = {'T', 'X', 'L', 'P'};
inline constexpr std::uint32_t kFormatVersion = 1;
inline constexpr std::uint64_t kSectionAlignment = 64;  // bytes

struct PackageHeader {
  std::array<char, 4> magic = kPackageMagic;
  std::uint32_t version = kFormatVersion;
  std::uint64_t file_bytes = 0;
  std::uint64_t index_offset = 0, index_bytes = 0, index_checksum = 0;
  std::array<std::uint64_t, 3> reserved = {};  // zero
};
static_assert(sizeof(PackageHeader) == kSectionAlignment);
static_assert(std::has_unique_object_representations_v<PackageHeader>);

// XXH3, 64 bits: of a section, and of the index.
std::uint64_t checksum_of(std::span<const std::byte> bytes);

// Limits of the contents of a package, which keep the time of loading in proportion to the size of
// the file. No real graph comes near these limits.
inline constexpr std::size_t kMaxNameBytes = 4096;    // of names and storage scopes
inline constexpr std::size_t kMaxTextBytes = 65'536;  // of targets, layouts and build options
inline constexpr std::size_t kMaxSizeSteps = 1024;    // of one size expression
inline constexpr std::size_t kMaxTemporaries = 16'384;
inline constexpr std::size_t kMaxLayoutDigits = 64;  // of rows, columns or lanes

// Stands for "none" where the index has the number of a section or of a node.
inline constexpr std::uint32_t kNoIndex = 0xffff'ffff;

}  // namespace texloom::runtime
