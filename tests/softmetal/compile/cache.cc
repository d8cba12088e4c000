#include "tests/softmetal/compile/cache.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace softmetal {
namespace {

namespace fs = std::filesystem;

constexpr size_t kCachedFiles = 8000;  // two per program

std::mutex folder_mutex;
std::string chosen_folder;  // guarded by folder_mutex; empty: in the build folder

std::string cache_folder() {
  const std::lock_guard lock(folder_mutex);
  return chosen_folder.empty() ? build_file("cache") : chosen_folder;
}

// If there are too many files, removes the oldest half. Other processes may remove files meanwhile.
void limit_cache(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    files.emplace_back(entry.last_write_time(ignored), entry.path());
  }
  if (files.size() < kCachedFiles) return;
  std::sort(files.begin(), files.end());
  for (size_t i = 0; i < files.size() / 2; ++i) fs::remove(files[i].second, ignored);
}

}  // namespace

std::string build_file(const char* name) { return std::string(SOFTMETAL_FOLDER) + "/" + name; }

const std::string& toolchain_key() {
  static const std::string kKey = [] {
    std::string key;
    for (const char* name : {"metal.pch", "runtime.o", "flags"}) {
      std::error_code missing;
      const auto time = fs::last_write_time(build_file(name), missing);
      key += std::to_string(time.time_since_epoch().count()) + "/";
    }
    return key;
  }();
  return kKey;
}

std::string code_key(const std::string& text) {
  const std::string all = toolchain_key() + text;
  const XXH128_hash_t hash = XXH3_128bits(all.data(), all.size());
  char key[48];
  std::snprintf(key, sizeof key, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return key;
}

std::string cached_path(const std::string& key, const char* extension) {
  return cache_folder() + "/" + key + extension;
}

std::string put_in_cache(const std::string& file, const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  std::error_code failed;
  fs::create_directories(folder, failed);
  static std::atomic<int> count = 0;
  const int number = ++count;
  const std::string fresh = path + "." + std::to_string(::getpid()) + "." + std::to_string(number);
  fs::copy_file(file, fresh, failed);
  if (!failed) fs::rename(fresh, path, failed);
  if (number % 64 == 1) limit_cache(folder);
  return failed ? "cannot write " + path + ": " + failed.message() : "";
}

void set_cache_folder(const std::string& folder) {
  const std::lock_guard lock(folder_mutex);
  chosen_folder = folder;
}

}  // namespace softmetal
