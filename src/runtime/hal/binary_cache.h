// Compiled programs kept on disk, so that the next process need not compile them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "support/status.h"

namespace texloom::hal {

// All that a binary depends on: source, options, device, driver. Keys are equal when all their
// fields are, in order.
class BinaryKey {
 public:
  BinaryKey& add(std::string_view field);
  // The fields with their lengths, so that no two lists of fields read alike.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

struct BinaryCacheOptions {
  std::string folder;                                  // made when the first entry is stored
  std::uint64_t max_bytes = std::uint64_t{256} << 20;  // of all entries, on disk
};

// Entries found and not found; rejected (damaged, of another format or key); stored; that could not
// be stored; removed to keep the bound.
struct BinaryCacheCounts {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t rejected = 0;
  std::uint64_t stored = 0;
  std::uint64_t store_failures = 0;
  std::uint64_t removed = 0;
};

// A folder with a file for each entry, shared by threads and processes at once. A file is written
// under a name of its own and renamed when it is complete, so that readers see all of an entry or
// none of it; find() rejects what a damaged disk or a crash leaves. Other files in the folder are
// left alone. Thread safe.
class BinaryCache {
 public:
  explicit BinaryCache(BinaryCacheOptions options);
  BinaryCache(const BinaryCache&) = delete;
  BinaryCache& operator=(const BinaryCache&) = delete;

  // The binary stored under this key. Nothing if there is none, or if the file is not exactly what
  // store() wrote for this key.
  std::optional<std::string> find(const BinaryKey& key);

  // Replaces the entry, then removes the least recently used ones until the folder keeps its bound.
  // Unavailable, with the system's words: the folder cannot be made or written. LimitExceeded: the
  // entry alone is over the bound.
  Status store(const BinaryKey& key, std::string_view binary);

  BinaryCacheCounts counts() const;

 private:
  std::string path_of(const BinaryKey& key) const;
  void trim();

  const BinaryCacheOptions options_;
  mutable std::mutex mutex_;
  BinaryCacheCounts counts_;  // guarded by mutex_
};

// A cache in the folder that the environment variable TEXLOOM_CACHE_DIR names; null (no cache) if
// it is unset or empty. For programs that make a driver: the runtime itself reads no environment
// variables.
std::shared_ptr<BinaryCache> binary_cache_of_environment();

}  // namespace texloom::hal
