#include "runtime/drivers/metal/kernels/build_options.h"

#include <charconv>
#include <string_view>

namespace texloom::hal::metal {
namespace {

// Takes a number from the front of the text.
template <typename Number>
std::optional<Number> take_number(std::string_view& text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// "metal3.1" -> {3, 1}
std::optional<std::pair<unsigned, unsigned>> language_of(std::string_view name) {
  if (!take(name, "metal") && !take(name, "macos-metal") && !take(name, "ios-metal"))
    return std::nullopt;
  const auto major = take_number<unsigned>(name);
  if (!major || !take(name, ".")) return std::nullopt;
  const auto minor = take_number<unsigned>(name);
  if (!minor || !name.empty()) return std::nullopt;
  return std::pair(*major, *minor);
}

Status read_option(std::string_view option, BuildOptions& read) {
  std::string_view rest = option;
  if (take(rest, "-std=")) {
    read.language = language_of(rest);
    if (read.language) return {};
    return invalid_argument(
        "the build option \"{}\" names no version of Metal's language: write it as -std=metal2.3",
        option);
  }
  if (take(rest, "-simd-width=")) {
    read.simd_width = take_number<std::uint64_t>(rest);
    if (read.simd_width && *read.simd_width > 0 && rest.empty()) return {};
    return invalid_argument("the build option \"{}\" must give a number of threads", option);
  }
  if (take(rest, "-D") && !rest.empty() && rest.front() != '=') {
    const std::size_t equals = rest.find('=');
    const bool has_value = equals != std::string_view::npos;
    read.macros.emplace_back(rest.substr(0, equals),
                             has_value ? rest.substr(equals + 1) : std::string_view("1"));
    return {};
  }
  if (option == "-fno-fast-math") return {};
  if (option == "-ffast-math") {
    if (allows(read.math, MathMode::Fast)) return {};
    return invalid_argument(
        "the build option \"{}\" relaxes arithmetic, which the math mode does not allow", option);
  }
  return invalid_argument(
      "the build option \"{}\" is unknown: Metal's driver has -std=metalX.Y, -simd-width=N and "
      "-DNAME=VALUE",
      option);
}

}  // namespace

Result<BuildOptions> parse_build_options(const std::vector<std::string>& options, MathMode math) {
  BuildOptions read;
  read.math = math;
  for (const std::string& option : options) TL_RETURN_IF_ERROR(read_option(option, read));
  return read;
}

}  // namespace texloom::hal::metal
