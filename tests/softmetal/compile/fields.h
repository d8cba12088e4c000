// The form of files that softmetal writes for itself: a line that says what it is, strings with
// their lengths, and a checksum.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace softmetal {

std::string write_fields(std::string_view kind, const std::vector<std::string>& fields);
// False if the bytes are no file of this kind, or damaged.
bool read_fields(std::string_view kind, std::string_view bytes, std::vector<std::string>& fields);

}  // namespace softmetal
