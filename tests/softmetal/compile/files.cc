#include "tests/softmetal/compile/files.h"

#include <filesystem>
#include <fstream>
#include <iterator>

namespace softmetal {

std::optional<std::string> read_file(const std::string& path) {
  std::error_code ignored;
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path, ignored)) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

bool write_file(const std::string& path, std::string_view content) {
  std::ofstream out(path, std::ios::binary);
  out << content;
  out.close();
  return out.good();
}

}  // namespace softmetal
