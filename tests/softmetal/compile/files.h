// Whole files as strings.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace softmetal {

// Nothing if it cannot be read, as a folder.
std::optional<std::string> read_file(const std::string& path);
bool write_file(const std::string& path, std::string_view content);

}  // namespace softmetal
