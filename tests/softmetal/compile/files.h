// Reads and writes whole files as strings.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace softmetal {

// Returns no value if the file cannot be read, for example if it is a folder.
std::optional<std::string> read_file(const std::string& path);
bool write_file(const std::string& path, std::string_view content);

}  // namespace softmetal
