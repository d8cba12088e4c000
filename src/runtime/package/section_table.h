// The sections of an open package file.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "support/status.h"

namespace texloom::runtime {

struct SectionPlace {
  std::uint64_t offset = 0, bytes = 0;  // in the file
  std::uint64_t checksum = 0;
};

// Refers to the file's content. Thread safe after create().
class SectionTable {
 public:
  // Fails with InvalidArgument unless the sections are in order, aligned, disjoint, and between the
  // header and the index.
  static Result<SectionTable> create(std::span<const std::byte> content,
                                     std::vector<SectionPlace> places, std::uint64_t index_offset);

  std::size_t count() const { return places_.size(); }
  std::uint64_t bytes_of(std::size_t section) const { return places_[section].bytes; }

  // Returns the bytes of a section. Fails with InvalidArgument if there is no such section, or if
  // the bytes do not have the section's checksum, which is compared at the first use. `what` names
  // the content in messages: "the code of module 3".
  Result<std::span<const std::byte>> bytes(std::size_t section, std::string_view what) const;
  // Like bytes(), for content that is copied into memory. Each section can be taken only once:
  // otherwise a small file could fill the memory. Not thread safe.
  Result<std::span<const std::byte>> take(std::size_t section, std::string_view what);

 private:
  enum class State : std::uint8_t { Unknown, Good, Damaged };

  std::span<const std::byte> content_;
  std::vector<SectionPlace> places_;
  std::unique_ptr<std::atomic<State>[]> states_;
  std::vector<bool> is_taken_;
};

}  // namespace texloom::runtime
