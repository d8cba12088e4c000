// Caches compiled programs on disk, so that later processes need not compile them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/hal/binary_key.h"
#include "support/status.h"

namespace texloom::hal {

struct BinaryCacheOptions {
  std::string folder;                                  // made when the first entry is stored
  std::uint64_t max_bytes = std::uint64_t{256} << 20;  // of all entries, on disk
};

struct BinaryCacheCounts {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t rejected = 0;  // found, but damaged or of another format or key
  std::uint64_t stored = 0;
  std::uint64_t store_failures = 0;
  std::uint64_t removed = 0;  // to stay within the size limit
};

// A folder with one file per entry, which threads and processes may share. A file is written under
// a temporary name and renamed when it is complete, so readers see either all of an entry or none
// of it. find() rejects files damaged by the disk or a crash. Other files in the folder are left
// alone. Thread safe.
class BinaryCache {
 public:
  explicit BinaryCache(BinaryCacheOptions options);
  BinaryCache(const BinaryCache&) = delete;
  BinaryCache& operator=(const BinaryCache&) = delete;

  // The binary stored under this key; nullopt if there is none, or if the file differs from the one
  // that store() wrote.
  std::optional<std::string> find(const BinaryKey& key);

  // Stores or replaces the entry, then removes the least recently used ones until the folder is
  // within its size limit. Unavailable, with the system's message: the folder cannot be created or
  // written. LimitExceeded: the entry by itself is over the limit.
  Status store(const BinaryKey& key, std::string_view binary);

  BinaryCacheCounts counts() const;

  // The first failure of store(), with the path and the reason; later calls return success, so
  // that a program can tell its user once.
  Status take_failure();

 private:
  std::string path_of(const BinaryKey& key) const;
  void trim();

  const BinaryCacheOptions options_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  BinaryCacheCounts counts_;
  Status first_failure_;
  bool was_taken_ = false;
};

// Creates a cache in the folder named by the environment variable TEXLOOM_CACHE_DIR; null (no
// cache) if it is unset or empty. For programs that create a driver: the runtime itself reads no
// environment variables.
std::shared_ptr<BinaryCache> binary_cache_of_environment();

// The cache folder of a program that stores kernels by default: TEXLOOM_CACHE_DIR if it is set,
// where "" means no cache. Otherwise "texloom" in the user's cache folder: $XDG_CACHE_HOME or
// ~/.cache (XDG Base Directory Specification 0.8), ~/Library/Caches on macOS; "" if the user has no
// home folder.
std::string binary_cache_folder_of_user();

}  // namespace texloom::hal
