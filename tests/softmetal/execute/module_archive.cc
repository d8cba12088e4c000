#include "tests/softmetal/execute/module_archive.h"

#include <vector>

#include "tests/softmetal/compile/cache.h"
#include "tests/softmetal/compile/fields.h"
#include "tests/softmetal/compile/files.h"

namespace softmetal {
namespace {

constexpr std::string_view kKind = "softmetal archive 1";

}  // namespace

// The fields: the device, the toolchain, and for each function its key, its name, and its module.
// An empty module means the previous function's module.
std::shared_ptr<ModuleArchive> ModuleArchive::read(std::string_view bytes,
                                                   const std::string& device,
                                                   std::string& problem) {
  std::vector<std::string> fields;
  if (!read_fields(kKind, bytes, fields) || fields.size() < 2 || fields.size() % 3 != 2) {
    problem = "the file is not a binary archive, or it is damaged";
    return nullptr;
  }
  if (fields[0] != device || fields[1] != toolchain_key()) {
    problem = "the binary archive is of another " +
              (fields[0] != device ? "device, \"" + fields[0] + "\"" : std::string("compiler"));
    return nullptr;
  }
  auto archive = std::make_shared<ModuleArchive>(device);
  for (size_t i = 2; i < fields.size(); i += 3) {
    Entry& entry = archive->entries_[fields[i]];
    entry.functions.insert(fields[i + 1]);
    if (!fields[i + 2].empty()) entry.bytes = std::move(fields[i + 2]);
  }
  return archive;
}

std::optional<std::string> ModuleArchive::write() const {
  const std::lock_guard lock(mutex_);
  if (entries_.empty()) return std::nullopt;
  std::vector<std::string> fields = {device_, toolchain_key()};
  for (const auto& [key, entry] : entries_) {
    for (const std::string& function : entry.functions) {
      const bool is_first = function == *entry.functions.begin();
      fields.insert(fields.end(), {key, function, is_first ? entry.bytes : ""});
    }
  }
  return write_fields(kKind, fields);
}

std::shared_ptr<Module> ModuleArchive::find(const std::string& key, const std::string& function,
                                            std::string& problem) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end() || !found->second.functions.contains(function)) return nullptr;
  Entry& entry = found->second;
  if (entry.module == nullptr) entry.module = Module::load_bytes(entry.bytes, problem);
  return entry.module;
}

std::string ModuleArchive::add(const Library& library, const std::string& function) {
  std::string problem;
  const std::string path = generate_module(library.code(), problem);
  if (path.empty()) return problem;
  auto bytes = read_file(path);
  if (!bytes) return "cannot read " + path;
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[library.code().key];
  entry.bytes = *std::move(bytes);
  entry.functions.insert(function);
  return "";
}

}  // namespace softmetal
