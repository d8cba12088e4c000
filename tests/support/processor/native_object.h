// Objects of native code that tests make by hand, without LLVM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "support/processor/native_code.h"

namespace texloom {

// A shared object without kernels: a header, three entries of segments, a dynamic section, the
// note. One segment is the whole file.
class NativeObjectFile {
 public:
  explicit NativeObjectFile(std::string_view note, std::uint16_t machine = 62 /* x86-64 */) {
    constexpr std::string_view kIdentification(
        "\x7f"
        "ELF\2\1\1",
        7);
    bytes_.replace(0, kIdentification.size(), kIdentification);
    put<std::uint16_t>(16, 3);  // a shared object
    put(18, machine);
    put<std::uint64_t>(32, 64);  // the place of the segments
    put<std::uint16_t>(54, 56);  // their size
    put<std::uint16_t>(56, 3);   // their number
    std::string text(note);
    text.resize((text.size() + 3) / 4 * 4);
    segment(0, 1, 5, 0, kNote + 20 + text.size());  // what is loaded: to read and to execute
    segment(1, 2, 6, kDynamic, 32);                 // the dynamic section
    segment(2, 4, 4, kNote, 20 + text.size());      // the notes
    put<std::uint32_t>(kNote, 8);                   // the bytes of the owner
    put(kNote + 4, static_cast<std::uint32_t>(note.size()));
    put<std::uint32_t>(kNote + 8, kNativeNoteType);
    bytes_.replace(kNote + 12, 8, std::string_view("Texloom\0", 8));
    bytes_ += text;
  }

  template <class T>
  void put(std::size_t at, T value) {
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  // An entry of the dynamic section, before its end.
  void dynamic(std::int64_t tag, std::uint64_t value) {
    put(kDynamic, tag);
    put(kDynamic + 8, value);
  }

  const std::string& bytes() const { return bytes_; }
  // The message that refuses it; empty if it is taken.
  std::string problem() const { return read_native_code(bytes_).status().message(); }

  static constexpr std::size_t kDynamic = 232, kNote = 264;

 private:
  void segment(std::size_t number, std::uint32_t type, std::uint32_t flags, std::uint64_t offset,
               std::uint64_t count) {
    const std::size_t at = 64 + 56 * number;
    put(at, type);
    put(at + 4, flags);
    put(at + 8, offset);
    put(at + 16, offset);  // the address
    put(at + 32, count);
    put(at + 40, count);
  }

  std::string bytes_ = std::string(kNote + 20, '\0');
};

}  // namespace texloom
