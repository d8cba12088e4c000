// A signed 128-bit integer, for products that may exceed 64 bits.
#pragma once

namespace texloom {

__extension__ typedef __int128 int128;

}  // namespace texloom
