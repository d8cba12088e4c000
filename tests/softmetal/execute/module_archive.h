// The contents of the API's binary archives: generated code that can be stored in a file.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "tests/softmetal/execute/library.h"

namespace softmetal {

// Modules by the key of their code, each with the functions that were added; other functions of the
// program are not found. A function has a separate name for each way of compiling it. Thread safe.
class ModuleArchive {
 public:
  explicit ModuleArchive(std::string device) : device_(std::move(device)) {}
  // If the bytes are no archive, or another device's or toolchain's, returns null and sets
  // `problem`.
  static std::shared_ptr<ModuleArchive> read(std::string_view bytes, const std::string& device,
                                             std::string& problem);
  // Returns no value if the archive is empty.
  std::optional<std::string> write() const;

  // Returns null if the function is not in the archive. If its module cannot be loaded, also sets
  // `problem`.
  std::shared_ptr<Module> find(const std::string& key, const std::string& function,
                               std::string& problem);
  // Adds a function's module, which is generated if needed. Returns the error, or an empty string.
  std::string add(const Library& library, const std::string& function);

 private:
  struct Entry {
    std::string bytes;  // of the shared object
    std::set<std::string> functions;
    std::shared_ptr<Module> module;  // once it is loaded
  };
  const std::string device_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;  // by IntermediateCode::key; guarded by mutex_
};

}  // namespace softmetal
