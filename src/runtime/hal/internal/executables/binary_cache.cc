#include "runtime/hal/binary_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace texloom::hal {
namespace {

namespace fs = std::filesystem;

constexpr std::array kMagic = {'T', 'L', 'B', 'I', 'N', 'A', 'R', 'Y'};
constexpr std::uint64_t kVersion = 1;
constexpr std::string_view kEntrySuffix = ".tlbin";
constexpr std::string_view kTemporarySuffix = ".tltmp";
// A temporary file that is at least this old was left by a process that ended while writing it.
constexpr std::chrono::hours kAbandonedAfter{1};

// The header of a file; the text of the key and the binary follow. Numbers are in the machine's
// byte order, so files from a machine with another byte order fail the version check.
struct Header {
  std::array<char, 8> magic = kMagic;
  std::uint64_t version = kVersion;
  std::uint64_t key_bytes = 0;
  std::uint64_t binary_bytes = 0;
  BinaryDigest checksum = {};  // of the whole file, with this field zero
};
static_assert(std::has_unique_object_representations_v<Header>);

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

// Reads a regular file of at most `max_bytes`.
std::optional<std::string> read_file(const std::string& path, std::uint64_t max_bytes) {
  // O_NONBLOCK: a pipe of this name must not block the caller.
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat state = {};
  if (!file.is_open() || ::fstat(file.get(), &state) != 0 || !S_ISREG(state.st_mode) ||
      static_cast<std::uint64_t>(state.st_size) > max_bytes)
    return std::nullopt;
  std::string content(static_cast<std::size_t>(state.st_size), '\0');
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t got = ::read(file.get(), content.data() + done, content.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    done += static_cast<std::size_t>(got);
  }
  return content;
}

bool write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t put = ::write(descriptor, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

Status system_error(std::string_view what, const std::string& path) {
  return make_error(StatusCode::Unavailable, "{} {}: {}", what, path,
                    std::generic_category().message(errno));
}

std::string entry_of(const BinaryKey& key, std::string_view binary) {
  Header header;
  header.key_bytes = key.text().size();
  header.binary_bytes = binary.size();
  std::string entry(sizeof header, '\0');
  entry.reserve(sizeof header + key.text().size() + binary.size());
  std::memcpy(entry.data(), &header, sizeof header);
  entry += key.text();
  entry += binary;
  header.checksum = digest_of(entry);
  std::memcpy(entry.data(), &header, sizeof header);
  return entry;
}

// Returns the binary of an entry if every byte is what entry_of() writes for this key.
std::optional<std::string> binary_of(std::string entry, const BinaryKey& key) {
  Header header;
  if (entry.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, entry.data(), sizeof header);
  const std::uint64_t rest = entry.size() - sizeof header;
  if (header.magic != kMagic || header.version != kVersion ||
      header.key_bytes != key.text().size() || header.key_bytes > rest ||
      header.binary_bytes != rest - header.key_bytes)
    return std::nullopt;
  const auto checksum = std::exchange(header.checksum, {});
  std::memcpy(entry.data(), &header, sizeof header);
  if (digest_of(entry) != checksum) return std::nullopt;
  if (entry.compare(sizeof header, header.key_bytes, key.text()) != 0) return std::nullopt;
  entry.erase(0, sizeof header + header.key_bytes);
  return entry;
}

struct StoredFile {
  fs::file_time_type used;
  fs::path path;
  std::uint64_t bytes = 0;
};

// Lists the cache's files; files that disappear meanwhile are left out.
std::vector<StoredFile> files_of(const std::string& folder) {
  std::vector<StoredFile> files;
  std::error_code error;
  for (fs::directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error)) {
    const std::string name = each->path().filename().string();
    if (!name.ends_with(kEntrySuffix) && !name.ends_with(kTemporarySuffix)) continue;
    std::error_code gone;
    const fs::file_time_type used = each->last_write_time(gone);
    const std::uintmax_t bytes = gone ? 0 : each->file_size(gone);
    if (!gone) files.push_back({used, each->path(), bytes});
  }
  return files;
}

}  // namespace

BinaryCache::BinaryCache(BinaryCacheOptions options) : options_(std::move(options)) {}

std::string BinaryCache::path_of(const BinaryKey& key) const {
  const auto [low, high] = key.digest();
  return fmt::format("{}/{:016x}{:016x}{}", options_.folder, high, low, kEntrySuffix);
}

std::optional<std::string> BinaryCache::find(const BinaryKey& key) {
  const std::string path = path_of(key);
  std::optional<std::string> entry = read_file(path, options_.max_bytes);
  const bool exists = entry.has_value();
  std::optional<std::string> binary = exists ? binary_of(*std::move(entry), key) : std::nullopt;
  // Updates the time of last use, by which trim() chooses files to remove. Has no effect in a
  // read-only folder.
  if (binary) ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  const std::scoped_lock lock(mutex_);
  ++(binary ? counts_.hits : exists ? counts_.rejected : counts_.misses);
  return binary;
}

Status BinaryCache::store(const BinaryKey& key, std::string_view binary) {
  const auto written = [&]() -> Status {
    const std::string entry = entry_of(key, binary);
    if (entry.size() > options_.max_bytes)
      return make_error(StatusCode::LimitExceeded,
                        "a binary cache of {} bytes has no room for an entry of {}",
                        options_.max_bytes, entry.size());
    std::error_code error;
    fs::create_directories(options_.folder, error);
    if (error)
      return make_error(StatusCode::Unavailable, "cannot make the folder {}: {}", options_.folder,
                        error.message());
    const std::string path = path_of(key);
    std::string temporary = fmt::format("{}.XXXXXX{}", path, kTemporarySuffix);
    const File file(
        ::mkostemps(temporary.data(), static_cast<int>(kTemporarySuffix.size()), O_CLOEXEC));
    if (!file.is_open()) return system_error("making", temporary);
    if (write_all(file.get(), entry) && ::rename(temporary.c_str(), path.c_str()) == 0) return {};
    Status failure = system_error("writing", temporary);
    ::unlink(temporary.c_str());
    return failure;
  };
  Status status = written();
  const std::scoped_lock lock(mutex_);
  ++(status.ok() ? counts_.stored : counts_.store_failures);
  if (first_failure_.ok()) first_failure_ = status;
  if (status.ok()) trim();
  return status;
}

// Called with mutex_ held; otherwise several threads would remove files for the same excess bytes.
// Two processes may run this at once: both begin with the oldest files, so they remove the same
// ones.
void BinaryCache::trim() {
  std::vector<StoredFile> files = files_of(options_.folder);
  std::uint64_t bytes = 0;
  for (const StoredFile& file : files) bytes += file.bytes;
  std::sort(files.begin(), files.end(), [](const StoredFile& a, const StoredFile& b) {
    return std::tie(a.used, a.path) < std::tie(b.used, b.path);
  });
  const auto abandoned = fs::file_time_type::clock::now() - kAbandonedAfter;
  for (const StoredFile& file : files) {
    const bool is_temporary = file.path.native().ends_with(kTemporarySuffix);
    const bool is_removed = is_temporary ? file.used < abandoned : bytes > options_.max_bytes;
    if (!is_removed) continue;
    std::error_code error;
    fs::remove(file.path, error);
    if (error) continue;
    bytes -= file.bytes;
    ++counts_.removed;
  }
}

BinaryCacheCounts BinaryCache::counts() const {
  const std::scoped_lock lock(mutex_);
  return counts_;
}

Status BinaryCache::take_failure() {
  const std::scoped_lock lock(mutex_);
  if (was_taken_ || first_failure_.ok()) return {};
  was_taken_ = true;
  return first_failure_;
}

std::shared_ptr<BinaryCache> binary_cache_of_environment() {
  const char* folder = std::getenv("TEXLOOM_CACHE_DIR");
  if (folder == nullptr || *folder == '\0') return nullptr;
  return std::make_shared<BinaryCache>(BinaryCacheOptions{.folder = folder});
}

std::string binary_cache_folder_of_user() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::filesystem::path(value == nullptr ? "" : value);
  };
  if (std::getenv("TEXLOOM_CACHE_DIR") != nullptr) return variable("TEXLOOM_CACHE_DIR");
  const std::filesystem::path home = variable("HOME");
#if defined(__APPLE__)
  const std::filesystem::path caches = home / "Library/Caches";
#else
  const std::filesystem::path named = variable("XDG_CACHE_HOME");
  const std::filesystem::path caches = named.is_absolute() ? named : home / ".cache";
#endif
  return caches.is_absolute() ? caches / "texloom" : std::filesystem::path();
}

}  // namespace texloom::hal
