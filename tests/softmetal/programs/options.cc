#include "tests/softmetal/programs/options.h"

#include <filesystem>
#include <optional>
#include <utility>

#include "tests/softmetal/compile/files.h"

namespace softmetal {
namespace {

bool begins_with(const std::string& s, const char* prefix, std::string& rest) {
  const std::string p = prefix;
  if (s.compare(0, p.size(), p) != 0) return false;
  rest = s.substr(p.size());
  return true;
}

}  // namespace

bool read_compile_option(const std::string& argument, CompileOptions& options,
                         std::string& problem) {
  std::string rest;
  if (begins_with(argument, "-D", rest)) {
    const size_t equals = rest.find('=');
    options.macros[rest.substr(0, equals)] =
        equals == std::string::npos ? "1" : rest.substr(equals + 1);
    if (rest.empty() || equals == 0) problem = "-D takes NAME or NAME=VALUE";
    return true;
  }
  if (begins_with(argument, "-I", rest)) {
    if (rest.empty()) problem = "-I takes a folder, as in -Ifolder";
    std::error_code ignored;
    options.include_folders.push_back(std::filesystem::absolute(rest, ignored).string());
    return true;
  }
  if (begins_with(argument, "-std=", rest)) {
    const size_t digit = rest.find_first_of("0123456789");
    const std::string version = digit == std::string::npos ? "" : rest.substr(digit);
    const bool known = version.size() == 3 && version[1] == '.' &&
                       ((version[0] == '2' && version[2] >= '0' && version[2] <= '4') ||
                        (version[0] == '3' && version[2] >= '0' && version[2] <= '2'));
    if (known) {
      options.version = (version[0] - '0') * 100 + (version[2] - '0') * 10;
    } else {
      problem = "\"" + argument +
                "\": the language has versions 2.0 to 2.4 and 3.0 to 3.2, as in -std=metal3.1";
    }
    return true;
  }
  if (begins_with(argument, "-fmetal-math-mode=", rest)) {
    if (rest == "safe") {
      options.math_mode = MathMode::Safe;
    } else if (rest == "relaxed") {
      options.math_mode = MathMode::Relaxed;
    } else if (rest == "fast") {
      options.math_mode = MathMode::Fast;
    } else {
      problem = "\"" + argument + "\": the mode is safe, relaxed or fast";
    }
    return true;
  }
  return false;
}

bool read_source(const std::string& file, std::string& source, CompileOptions& options,
                 std::string& problem) {
  std::optional<std::string> content = read_file(file);
  if (!content) {
    problem = "cannot read \"" + file + "\"";
    return false;
  }
  source = *std::move(content);
  options.file = file;
  std::error_code ignored;
  const auto folder = std::filesystem::absolute(file, ignored).parent_path();
  options.include_folders.push_back(folder.string());
  return true;
}

}  // namespace softmetal
