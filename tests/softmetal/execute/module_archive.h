// Generated code that outlives the process: what a binary archive of the API holds.
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

// Modules by the code that they were generated of, each with the functions that were added: others
// of the same program are not found. A function has a name for each way of compiling it. Thread
// safe.
class ModuleArchive {
 public:
  explicit ModuleArchive(std::string device) : device_(std::move(device)) {}
  // Null with `problem` if the bytes are no archive, or one of another device or toolchain.
  static std::shared_ptr<ModuleArchive> read(std::string_view bytes, const std::string& device,
                                             std::string& problem);
  // Nothing if there is nothing in the archive.
  std::optional<std::string> write() const;

  // Null if the function is not there, or, with `problem`, if the module cannot be loaded.
  std::shared_ptr<Module> find(const std::string& key, const std::string& function,
                               std::string& problem);
  // Adds the module of a function, which is generated if need be. Else what is wrong.
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
