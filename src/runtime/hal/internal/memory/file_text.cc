#include "runtime/hal/internal/memory/file_text.h"

#include <cstdio>
#include <memory>

namespace texloom::hal {

std::string text_of_file(const char* path) {
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path, "rbe"));
  std::string text;
  if (file == nullptr) return text;
  char part[4096];
  while (const std::size_t bytes = std::fread(part, 1, sizeof part, file.get()))
    text.append(part, bytes);
  return text;
}

}  // namespace texloom::hal
