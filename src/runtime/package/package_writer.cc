#include "runtime/package/package_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

#include "runtime/package/index_writer.h"
#include "runtime/package/package_check.h"
#include "runtime/package/package_format.h"
#include "support/function_ref.h"

namespace texloom::runtime {
namespace {

namespace fs = std::filesystem;

using Sink = FunctionRef<Status(std::span<const std::byte>)>;

Status check_constants(const Package& package) {
  for (std::size_t v = 0; v < package.variants.size(); ++v) {
    const PackageVariant& variant = package.variants[v];
    for (std::size_t i = 0; i < variant.constants.size(); ++i) {
      const TensorSpec& constant = variant.plan.constants[i];
      const std::size_t given = variant.constants[i].bytes.size();
      if (given != bytes_of(constant.storage))
        return invalid_argument("variant {}: constant \"{}\" is {}, got {} bytes", v, constant.name,
                                describe(constant.storage), given);
    }
  }
  return {};
}

// Passes the content of the file to `sink`, in pieces.
Status write(std::span<const Package> packages, Sink sink) {
  TL_RETURN_IF_ERROR(check_packages(packages));
  for (const Package& package : packages)
    TL_RETURN_IF_ERROR(
        check_constants(package).with_context(fmt::format("package \"{}\"", package.name)));
  SectionList list;
  const std::vector<std::byte> index = write_index(packages, list);
  const PackageHeader header = {.file_bytes = list.end() + index.size(),
                                .index_offset = list.end(),
                                .index_bytes = index.size(),
                                .index_checksum = checksum_of(index)};
  TL_RETURN_IF_ERROR(sink(std::as_bytes(std::span(&header, 1))));
  constexpr std::array<std::byte, kSectionAlignment> kZeros = {};
  std::uint64_t at = sizeof header;
  const auto fill_up_to = [&](std::uint64_t offset) {
    const auto gap = static_cast<std::size_t>(offset - at);
    at = offset;
    return sink(std::span(kZeros).first(gap));
  };
  for (const SectionList::Section& section : list.sections()) {
    TL_RETURN_IF_ERROR(fill_up_to(section.offset));
    TL_RETURN_IF_ERROR(sink(section.bytes));
    at += section.bytes.size();
  }
  TL_RETURN_IF_ERROR(fill_up_to(list.end()));
  return sink(index);
}

// A file to write: under a temporary name until it is complete, or in place.
class OutputFile {
 public:
  explicit OutputFile(int descriptor) : descriptor_(descriptor) {}
  ~OutputFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  int descriptor() const { return descriptor_; }

  bool put(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t done = ::write(descriptor_, bytes.data(), bytes.size());
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
    return true;
  }
  // Some file systems report here that there was no room.
  bool close() { return ::close(std::exchange(descriptor_, -1)) == 0; }

 private:
  int descriptor_;
};

Status not_written(const fs::path& file) {
  return make_error(StatusCode::Unavailable, "'{}' cannot be written: {}", file.string(),
                    std::generic_category().message(errno));
}

// Creates a new file beside the target, and sets `part` to its name.
int make_beside(const fs::path& target, std::string& part) {
  static std::atomic<unsigned> count = 0;
  for (int attempt = 0; attempt < 100; ++attempt) {
    part = fmt::format("{}.{}-{}.part", target.string(), ::getpid(), count++);
    const int made = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (made >= 0 || errno != EEXIST) return made;
  }
  return -1;
}

Status write_to(std::span<const Package> packages, OutputFile& output, const fs::path& file) {
  if (output.descriptor() < 0) return not_written(file);
  TL_RETURN_IF_ERROR(write(packages, [&](std::span<const std::byte> bytes) {
    return output.put(bytes) ? Status() : not_written(file);
  }));
  return output.close() ? Status() : not_written(file);
}

}  // namespace

Status write_packages(std::span<const Package> packages, const fs::path& file) {
  if (file.native().find('\0') != std::string::npos) {
    errno = EINVAL;
    return not_written(file.native().c_str());
  }
  std::error_code error;
  const fs::file_type type = fs::status(file, error).type();
  if (type != fs::file_type::not_found && type != fs::file_type::regular) {
    OutputFile output(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
    return write_to(packages, output, file);
  }
  fs::path target = fs::weakly_canonical(file, error);  // the file behind a link
  if (error || file.empty()) target = file;
  std::string part;
  const int made = make_beside(target, part);
  if (made < 0) return not_written(file);
  OutputFile output(made);
  Status status = write_to(packages, output, file);
  if (status.ok() && ::rename(part.c_str(), target.c_str()) != 0) status = not_written(file);
  if (!status.ok()) ::unlink(part.c_str());
  return status;
}

Status write_package(const Package& package, const fs::path& file) {
  return write_packages(std::span(&package, 1), file);
}

Result<std::vector<std::byte>> package_bytes(std::span<const Package> packages) {
  std::vector<std::byte> bytes;
  TL_RETURN_IF_ERROR(write(packages, [&](std::span<const std::byte> piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
    return Status();
  }));
  return bytes;
}

}  // namespace texloom::runtime
