// The format of softmetal's own files: a line with the kind, strings with their lengths, and a
// checksum.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace softmetal {

std::string write_fields(std::string_view kind, const std::vector<std::string>& fields);
// Returns false if the bytes are damaged or not of this kind.
bool read_fields(std::string_view kind, std::string_view bytes, std::vector<std::string>& fields);

}  // namespace softmetal
