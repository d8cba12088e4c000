// A place in the user's own program: the file and line of the Python (or .tl) text that a node,
// a directive or an argument came from.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace texloom {

struct SourceLocation {
  std::shared_ptr<const std::string> file;  // null when the place is unknown
  int line = 0;                             // from 1
  int column = 0;                           // from 1; 0: the whole line

  static SourceLocation make(std::string_view file_name, int line_number) {
    return {std::make_shared<const std::string>(file_name), line_number, 0};
  }
  bool known() const { return file != nullptr; }
};

}  // namespace texloom
