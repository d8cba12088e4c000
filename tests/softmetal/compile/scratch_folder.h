// A folder for files that are needed for a moment.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace softmetal {

// Removed with what is in it at the end of the scope.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code failed;
    const auto parent = std::filesystem::temp_directory_path(failed);
    std::string name = (parent / "softmetal-XXXXXX").string();
    if (!failed && ::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  // Empty if none can be made.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace softmetal
