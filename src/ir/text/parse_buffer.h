// Parses declarations of buffers, for ir/text/parse.h.
#pragma once

#include "ir/text/text_names.h"
#include "ir/text/text_reader.h"

namespace texloom::ir {

// Either form:
//   global float32[8, 16]
//   texture2d<float32>[8, 16] 4 x 8 texels, texture[(d0, d1) -> rows=(d0), cols=(d1/4), ...]
// with `, origin=(x, y)` or `, exact_image` after a texture's layout. Origins bind their variables.
Declaration parse_declaration(TextReader& reader, TextNames& names);

}  // namespace texloom::ir
