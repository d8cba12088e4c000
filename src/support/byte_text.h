// Spells sizes of memory for people.
#pragma once

#include <cstdint>
#include <string>

namespace texloom {

// "1 byte", "1000 bytes", "1.5 KiB", "16 GiB": one digit after the point unless it is zero.
std::string byte_text(std::uint64_t bytes);

}  // namespace texloom
