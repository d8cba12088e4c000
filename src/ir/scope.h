// Memory scopes, and the scope strings that users write. Only this file knows these spellings.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace texloom::ir {

// Who sees a buffer: the whole grid, one block, one thread. A fragment is a part of a matrix that
// stays in registers: private like Local, and each access names a constant place, so that it never
// needs an address (docs/matrix_fragments.md).
enum class MemoryScope : unsigned char { Global, Shared, Local, Fragment };

// Whether each thread has a buffer of its own.
constexpr bool is_private(MemoryScope scope) {
  return scope == MemoryScope::Local || scope == MemoryScope::Fragment;
}

// Which axes of a tensor become rows of a texture; see texture_layout in ir/layout/layout.h.
enum class TextureRule : unsigned char {
  Activation,  // of the axes before the lanes, the last is the column, all others rows
  Weight,      // the first axis is the row, all others columns
  Nhwc,        // the first two axes are rows
};

// A parsed scope string: a memory scope and, for a texture, the rule of its layout.
struct StorageScope {
  MemoryScope memory = MemoryScope::Global;
  std::optional<TextureRule> texture;

  bool operator==(const StorageScope&) const = default;
};

// "global" (or ""), "shared", "local", "fragment", "texture", "texture:weight", "texture:nhwc", the
// aliases "global.texture", "global.texture-weight", ..., and "warp" for shared, "wmma.*" for
// local.
std::optional<StorageScope> parse_scope(std::string_view text);
// The preferred spelling.
std::string to_string(const StorageScope& scope);
std::string_view to_string(MemoryScope scope);
// The preferred spellings of all scopes: for help texts.
std::vector<std::string> scope_spellings();

}  // namespace texloom::ir
