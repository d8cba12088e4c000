#include "support/processor/native_code.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

#include "support/processor/processor.h"

namespace texloom {

namespace {

// The parts of ELF's 64-bit structures that are read; <elf.h> is not on every system.
struct Header {
  std::array<unsigned char, 16> identification;
  std::uint16_t type, machine;
  std::uint32_t version;
  std::uint64_t entry, segments_offset, sections_offset;
  std::uint32_t flags;
  std::uint16_t header_bytes, segment_bytes, segment_count, section_bytes, section_count, names;
};
struct Segment {
  std::uint32_t type, flags;
  std::uint64_t offset, address, physical, file_bytes, memory_bytes, alignment;
};
struct Section {
  std::uint32_t name, type;
  std::uint64_t flags, address, offset, bytes;
  std::uint32_t link, info;
  std::uint64_t alignment, entry_bytes;
};
struct DynamicEntry {
  std::int64_t tag;
  std::uint64_t value;
};
struct NoteHeader {
  std::uint32_t owner_bytes, text_bytes, type;
};

constexpr std::uint16_t kRelocatable = 1, kShared = 3;  // Header::type
constexpr std::uint32_t kLoad = 1, kDynamic = 2, kInterpreter = 3, kNote = 4, kThreadLocal = 7,
                        kStack = 0x6474e551;                  // Segment::type
constexpr std::uint32_t kExecutable = 1, kWritable = 2;       // Segment::flags
constexpr std::uint32_t kNoteSection = 7;                     // Section::type
constexpr std::uint64_t kMaxMemory = std::uint64_t{1} << 32;  // of a segment
constexpr std::uint64_t kPage = 4096;

// Entries of a dynamic section that make the system's loader do more than place kernels: run code,
// load other libraries, change code.
struct Refused {
  std::int64_t tag;
  std::string_view what;
};
constexpr std::array kRefused = {
    Refused{1, "needs other libraries"},
    Refused{12, "has code that runs when it is loaded"},
    Refused{13, "has code that runs when it is unloaded"},
    Refused{15, "names folders of libraries"},
    Refused{22, "has code that is changed when it is loaded"},
    Refused{25, "has code that runs when it is loaded"},
    Refused{26, "has code that runs when it is unloaded"},
    Refused{29, "names folders of libraries"},
    Refused{32, "has code that runs when it is loaded"},
    Refused{0x7ffffffd, "needs other libraries"},
    Refused{0x7fffffff, "needs other libraries"},
};

Status damaged(std::string_view what) {
  return invalid_argument("the native code is damaged: {}", what);
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  Result<NativeCode> read() {
    if (bytes_.substr(0, 4) !=
        "\x7f"
        "ELF")
      return invalid_argument("the native code is not an ELF object");
    const auto header = at<Header>(0);
    if (!header) return damaged("it ends in its header");
    header_ = *header;
    constexpr unsigned char k64Bits = 2, kLittleEndian = 1;
    if (header_.identification[4] != k64Bits || header_.identification[5] != kLittleEndian)
      return invalid_argument("the native code is not for 64-bit little-endian machines");
    TL_RETURN_IF_ERROR(read_machine());
    object_.is_relocatable = header_.type == kRelocatable;
    if (!object_.is_relocatable && header_.type != kShared)
      return invalid_argument("the native code is neither a shared object nor an object file");
    TL_RETURN_IF_ERROR(object_.is_relocatable ? read_sections() : read_segments());
    if (!has_note_)
      return invalid_argument("the native code was not made by Texloom: it has no note {}",
                              kNativeNoteSection);
    return std::move(object_);
  }

 private:
  bool fits(std::uint64_t offset, std::uint64_t count) const {
    return offset <= bytes_.size() && count <= bytes_.size() - offset;
  }

  template <class T>
  std::optional<T> at(std::uint64_t offset) const {
    if (!fits(offset, sizeof(T))) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  Status read_machine() {
    constexpr std::uint16_t kX86 = 62, kAarch64 = 183;
    if (header_.machine == kX86) {
      object_.architecture = "x86_64";
    } else if (header_.machine == kAarch64) {
      object_.architecture = "aarch64";
    } else {
      return invalid_argument("the native code is for a machine of ELF's number {}",
                              header_.machine);
    }
    return {};
  }

  Status read_sections() {
    if (header_.section_bytes != sizeof(Section)) return damaged("the size of its sections");
    for (std::uint64_t i = 0; i < header_.section_count; ++i) {
      const auto section = at<Section>(header_.sections_offset + i * sizeof(Section));
      if (!section) return damaged("it ends in its list of sections");
      if (section->type != kNoteSection) continue;
      TL_RETURN_IF_ERROR(read_notes(section->offset, section->bytes));
    }
    return {};
  }

  Status read_segments() {
    if (header_.segment_bytes != sizeof(Segment)) return damaged("the size of its segments");
    std::uint64_t end = 0;  // of the segments in memory so far
    for (std::uint64_t i = 0; i < header_.segment_count; ++i) {
      const auto segment = at<Segment>(header_.segments_offset + i * sizeof(Segment));
      if (!segment) return damaged("it ends in its list of segments");
      TL_RETURN_IF_ERROR(check(*segment, end));
      if (segment->type == kDynamic) TL_RETURN_IF_ERROR(check_dynamic(*segment));
      if (segment->type == kNote)
        TL_RETURN_IF_ERROR(read_notes(segment->offset, segment->file_bytes));
    }
    return end == 0 ? damaged("no segment is loaded") : Status();
  }

  Status check(const Segment& segment, std::uint64_t& end) const {
    const bool is_executable = (segment.flags & kExecutable) != 0;
    const bool is_writable = (segment.flags & kWritable) != 0;
    if (segment.type == kInterpreter) return invalid_argument("the native code is a program");
    if (segment.type == kThreadLocal)
      return invalid_argument("the native code has variables of threads");
    if (segment.type == kStack && is_executable)
      return invalid_argument("the native code makes the stack executable");
    if (segment.type != kLoad) return {};
    if (is_executable && is_writable)
      return invalid_argument("the native code is writable where it is executable");
    if (!fits(segment.offset, segment.file_bytes)) return damaged("a segment is cut off");
    if (segment.file_bytes > segment.memory_bytes || segment.memory_bytes > kMaxMemory ||
        segment.address > kMaxMemory || segment.address < end ||
        segment.address % kPage != segment.offset % kPage)
      return damaged("the place of a segment");
    end = segment.address + segment.memory_bytes;
    return {};
  }

  Status check_dynamic(const Segment& segment) const {
    if (!fits(segment.offset, segment.file_bytes)) return damaged("its dynamic section is cut off");
    const std::uint64_t count = segment.file_bytes / sizeof(DynamicEntry);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto entry = at<DynamicEntry>(segment.offset + i * sizeof(DynamicEntry));
      if (entry->tag == 0) return {};
      constexpr std::int64_t kFlags = 30;
      constexpr std::uint64_t kChangesCode = 4;
      if (entry->tag == kFlags && (entry->value & kChangesCode) != 0)
        return invalid_argument("the native code has code that is changed when it is loaded");
      for (const Refused& each : kRefused) {
        if (entry->tag == each.tag) return invalid_argument("the native code {}", each.what);
      }
    }
    return damaged("its dynamic section has no end");
  }

  Status read_notes(std::uint64_t offset, std::uint64_t count) {
    if (!fits(offset, count)) return damaged("its notes are cut off");
    constexpr auto aligned = [](std::uint64_t size) { return (size + 3) / 4 * 4; };
    const std::uint64_t end = offset + count;
    while (end - offset >= sizeof(NoteHeader)) {
      const auto note = at<NoteHeader>(offset);
      offset += sizeof(NoteHeader);
      const std::uint64_t owner = aligned(note->owner_bytes), text = aligned(note->text_bytes);
      if (owner > end - offset || text > end - offset - owner) return damaged("a note is cut off");
      std::string_view name = bytes_.substr(offset, note->owner_bytes);
      if (name.ends_with('\0')) name.remove_suffix(1);
      if (name == kNativeNoteOwner && note->type == kNativeNoteType)
        TL_RETURN_IF_ERROR(read_note(bytes_.substr(offset + owner, note->text_bytes)));
      offset += owner + text;
    }
    return {};
  }

  // Objects that were linked of several have the note of each.
  Status read_note(std::string_view text) {
    const std::size_t space = text.find(' ');
    const std::string_view abi = text.substr(0, space);
    if (space == text.npos || abi.empty()) return damaged("its note");
    if (abi != kNativeAbi)
      return make_error(StatusCode::Unimplemented,
                        "the native code has version {} of the interface of kernels, and this "
                        "Texloom calls version {}; help: compile it again with this version",
                        abi, kNativeAbi);
    has_note_ = true;
    for (std::string_view left = text.substr(space + 1); !left.empty();) {
      const std::size_t comma = std::min(left.find(','), left.size());
      const std::string feature(left.substr(0, comma));
      const auto known = known_processor_features(object_.architecture);
      if (std::ranges::find(known, feature) == known.end()) return damaged("its note");
      if (std::ranges::find(object_.features, feature) == object_.features.end())
        object_.features.push_back(feature);
      left.remove_prefix(std::min(comma + 1, left.size()));
    }
    return {};
  }

  std::string_view bytes_;
  Header header_ = {};
  NativeCode object_;
  bool has_note_ = false;
};

}  // namespace

Result<NativeCode> read_native_code(std::string_view bytes) { return Reader(bytes).read(); }

std::string missing_for(const NativeCode& object) {
  if (object.architecture != processor_architecture())
    return fmt::format("a processor of {} (this one is of {})", object.architecture,
                       processor_architecture());
  std::vector<std::string_view> lacks;
  const std::vector<std::string_view>& has = processor_features();
  for (const std::string_view feature : object.features) {
    if (std::ranges::find(has, feature) == has.end()) lacks.push_back(feature);
  }
  if (lacks.empty()) return {};
  return fmt::format("the feature{} {} of the processor", lacks.size() == 1 ? "" : "s",
                     fmt::join(lacks, ", "));
}

}  // namespace texloom
