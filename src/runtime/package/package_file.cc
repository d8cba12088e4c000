#include "runtime/package/package_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "runtime/hal/types.h"
#include "runtime/package/index_reader.h"
#include "runtime/package/package_check.h"
#include "runtime/package/package_format.h"
#include "runtime/package/section_table.h"

namespace texloom::runtime {
namespace {

constexpr std::string_view kExportAgain =
    "export it again, or fetch another copy";  // help for a damaged file

// The content of a file: mapped, or a copy.
class Content {
 public:
  Content() = default;
  ~Content() {
    if (bytes_.empty()) return;
    if (is_mapped_) {
      ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
    } else {
      std::free(const_cast<std::byte*>(bytes_.data()));
    }
  }
  Content(const Content&) = delete;
  Content& operator=(const Content&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

  Status map(const std::filesystem::path& file) {
    if (file.native().find('\0') != std::string::npos)
      return Status(StatusCode::Unavailable, "cannot be read: the name has a null byte");
    // O_NONBLOCK: a pipe of this name must not block the caller.
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return not_read();
    Status status = map(descriptor);
    ::close(descriptor);
    return status;
  }

  Status copy(std::span<const std::byte> content) {
    if (content.empty()) return {};
    // Aligns the copy so that sections have the same alignment as in a mapped file.
    const std::size_t size = (content.size() + kSectionAlignment - 1) & ~(kSectionAlignment - 1);
    auto* copy = static_cast<std::byte*>(std::aligned_alloc(kSectionAlignment, size));
    if (copy == nullptr)
      return make_error(StatusCode::OutOfMemory, "no memory for {} bytes", content.size());
    std::memcpy(copy, content.data(), content.size());
    bytes_ = {copy, content.size()};
    return {};
  }

 private:
  static Status not_read() {
    return make_error(StatusCode::Unavailable, "cannot be read: {}",
                      std::generic_category().message(errno));
  }

  Status map(int descriptor) {
    struct stat state = {};
    if (::fstat(descriptor, &state) != 0) return not_read();
    if (!S_ISREG(state.st_mode))
      return Status(StatusCode::Unavailable, "cannot be read: it is not a file");
    const auto size = static_cast<std::size_t>(state.st_size);
    if (size == 0) return {};
    void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (mapped == MAP_FAILED) return not_read();
    bytes_ = {static_cast<const std::byte*>(mapped), size};
    is_mapped_ = true;
    return {};
  }

  std::span<const std::byte> bytes_;
  bool is_mapped_ = false;
};

Status damaged(std::string_view problem) {
  return invalid_argument("is damaged: {}; {}", problem, kExportAgain);
}

// The error for a file that is intact, but has wrong contents. If only the options refuse the file,
// the error does not advise another copy, which would be refused too.
Status refused(const Status& problem) {
  const bool is_wrong = problem.code() == StatusCode::InvalidArgument;
  return Status(problem.code(), fmt::format("is refused: {}{}{}", problem.message(),
                                            is_wrong ? "; " : "", is_wrong ? kExportAgain : ""));
}

// `writer` is the version of Texloom that wrote the file, if it is known.
Status wrong_format(std::uint32_t version, const std::string& writer) {
  if (version > kFormatVersion)
    return invalid_argument(
        "was written by a newer Texloom{}{} (format {}, this one reads {}); update, "
        "or export it again with this version",
        writer.empty() ? "" : ", ", writer, version, kFormatVersion);
  return invalid_argument(
      "has the old format {}{}{}, and this version of Texloom reads {}; export it "
      "again with this version",
      version, writer.empty() ? "" : " of Texloom ", writer, kFormatVersion);
}

// The bytes of the index, if the file is whole. `content` begins with the magic bytes.
Result<std::span<const std::byte>> whole_index_of(std::span<const std::byte> content) {
  PackageHeader header;
  if (content.size() < sizeof header) return damaged("it ends in its header");
  std::memcpy(&header, content.data(), sizeof header);
  if (header.file_bytes != content.size())
    return damaged(fmt::format("it has {} bytes of {}", content.size(), header.file_bytes));
  if (header.reserved != PackageHeader().reserved) return damaged("its header has unknown fields");
  if (header.index_offset < sizeof header || header.index_offset % kSectionAlignment != 0 ||
      !hal::range_fits(header.index_offset, header.index_bytes, content.size()) ||
      header.index_offset + header.index_bytes != content.size())
    return damaged("its index is not at its end");
  const auto index = content.subspan(static_cast<std::size_t>(header.index_offset));
  if (checksum_of(index) != header.index_checksum)
    return damaged("its index does not have its checksum");
  return index;
}

// The index of a file whose header is right.
Result<std::span<const std::byte>> index_of(std::span<const std::byte> content) {
  PackageHeader header;
  constexpr std::size_t kVersionEnd = offsetof(PackageHeader, file_bytes);
  if (content.size() < kVersionEnd ||
      std::memcmp(content.data(), &header, sizeof header.magic) != 0)
    return invalid_argument(
        "is not a package: it does not begin with \"TXLP\"; \"texloom compile\", export_library "
        "and "
        "texloom-compile write packages");
  std::memcpy(&header.version, content.data() + sizeof header.magic, sizeof header.version);
  auto index = whole_index_of(content);
  if (header.version == kFormatVersion) return index;
  // Another format may keep its index elsewhere; then the writer stays unknown.
  return wrong_format(header.version, index.ok() ? writer_of(*index) : std::string());
}

}  // namespace

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

struct PackageFile::State {
  Content content;
  SectionTable sections;
  ReadPackages read;
};

PackageFile::PackageFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
PackageFile::~PackageFile() = default;

Result<std::shared_ptr<const PackageFile>> PackageFile::open(const std::filesystem::path& file,
                                                             const PackageOptions& options) {
  const std::string name = fmt::format("'{}'", file.string());
  auto state = std::make_unique<State>();
  Status status = state->content.map(file);
  if (status.ok()) {
    auto opened = read(std::move(state), options);
    if (opened.ok()) return opened;
    status = opened.status();
  }
  return Status(status.code(), fmt::format("{} {}", name, status.message()));
}

Result<std::shared_ptr<const PackageFile>> PackageFile::open(std::span<const std::byte> content,
                                                             const PackageOptions& options) {
  auto state = std::make_unique<State>();
  TL_RETURN_IF_ERROR(state->content.copy(content));
  auto opened = read(std::move(state), options);
  if (opened.ok()) return opened;
  return Status(opened.status().code(), fmt::format("the package {}", opened.status().message()));
}

Result<std::shared_ptr<const PackageFile>> PackageFile::read(std::unique_ptr<State> state,
                                                             const PackageOptions& options) {
  const std::span<const std::byte> content = state->content.bytes();
  TL_ASSIGN_OR_RETURN(const std::span<const std::byte> index, index_of(content));
  auto places = read_sections(index);
  if (!places.ok()) return damaged(places.status().message());
  auto sections = SectionTable::create(content, *std::move(places), content.size() - index.size());
  if (!sections.ok()) return damaged(sections.status().message());
  state->sections = *std::move(sections);
  auto packages = read_packages(index, state->sections, options);
  if (!packages.ok()) return refused(packages.status());
  state->read = *std::move(packages);
  Status status = check_packages(state->read.packages);
  if (status.ok()) status = leave_out_kernels(state->read.packages, options.kernels);
  if (!status.ok()) return refused(status);
  return std::shared_ptr<const PackageFile>(new PackageFile(std::move(state)));
}

const std::string& PackageFile::writer() const { return state_->read.writer; }

std::span<const Package> PackageFile::packages() const { return state_->read.packages; }

Result<std::span<const std::byte>> PackageFile::constant(std::size_t variant, std::size_t index,
                                                         std::size_t package) const {
  const auto& all = state_->read.constants;
  if (package >= all.size() || variant >= all[package].size() ||
      index >= all[package][variant].size())
    return invalid_argument("there is no constant {} of variant {} of package {}", index, variant,
                            package);
  const TensorSpec& constant =
      state_->read.packages[package].variants[variant].plan.constants[index];
  return state_->sections.bytes(all[package][variant][index],
                                fmt::format("constant \"{}\"", constant.name));
}

Result<std::vector<Package>> PackageFile::whole_packages() const {
  std::vector<Package> whole(packages().begin(), packages().end());
  for (std::size_t p = 0; p < whole.size(); ++p) {
    for (std::size_t v = 0; v < whole[p].variants.size(); ++v) {
      PackageVariant& variant = whole[p].variants[v];
      variant.constants.resize(variant.plan.constants.size());
      for (std::size_t c = 0; c < variant.constants.size(); ++c) {
        TL_ASSIGN_OR_RETURN(variant.constants[c].bytes, constant(v, c, p));
      }
    }
  }
  return whole;
}

}  // namespace texloom::runtime
