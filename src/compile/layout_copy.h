// Copies between the row-major elements of a tensor on the host and their places in its layout.
#pragma once

#include <cstddef>
#include <span>

#include "ir/layout/layout.h"

namespace texloom::compile {

// `places` holds rows * columns * lanes elements, row by row; padding becomes zero.
void pack_elements(const ir::Layout& layout, size_t element_bytes,
                   std::span<const std::byte> elements, std::span<std::byte> places);
void unpack_elements(const ir::Layout& layout, size_t element_bytes,
                     std::span<const std::byte> places, std::span<std::byte> elements);

}  // namespace texloom::compile
