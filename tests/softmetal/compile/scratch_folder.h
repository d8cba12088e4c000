// A folder for temporary files.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace softmetal {

// Removed with its contents at the end of the scope.
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
  // Empty if the folder could not be created.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace softmetal
