#include "ir/scope.h"

#include <array>

#include "support/check.h"

namespace texloom::ir {
namespace {

struct Spelling {
  std::string_view text;
  StorageScope scope;
};

// The first spelling of a scope is the preferred one.
constexpr std::array kSpellings = {
    Spelling{"global", {MemoryScope::Global, {}}},
    Spelling{"shared", {MemoryScope::Shared, {}}},
    Spelling{"local", {MemoryScope::Local, {}}},
    Spelling{"fragment", {MemoryScope::Fragment, {}}},
    Spelling{"texture", {MemoryScope::Global, TextureRule::Activation}},
    Spelling{"texture:weight", {MemoryScope::Global, TextureRule::Weight}},
    Spelling{"texture:nhwc", {MemoryScope::Global, TextureRule::Nhwc}},
    Spelling{"", {MemoryScope::Global, {}}},
    Spelling{"global.texture", {MemoryScope::Global, TextureRule::Activation}},
    Spelling{"global.texture-weight", {MemoryScope::Global, TextureRule::Weight}},
    Spelling{"global.texture-nhwc", {MemoryScope::Global, TextureRule::Nhwc}},
    Spelling{"global.texture:weight", {MemoryScope::Global, TextureRule::Weight}},
    Spelling{"global.texture:nhwc", {MemoryScope::Global, TextureRule::Nhwc}},
    // A "warp" buffer becomes shared memory of the block. A "wmma" fragment becomes private memory
    // of each thread: without tensor intrinsics, this gives the same values.
    Spelling{"warp", {MemoryScope::Shared, {}}},
    Spelling{"wmma.matrix_a", {MemoryScope::Local, {}}},
    Spelling{"wmma.matrix_b", {MemoryScope::Local, {}}},
    Spelling{"wmma.accumulator", {MemoryScope::Local, {}}},
};
constexpr size_t kPreferred = 7;

}  // namespace

std::optional<StorageScope> parse_scope(std::string_view text) {
  for (const Spelling& row : kSpellings) {
    if (row.text == text) return row.scope;
  }
  return std::nullopt;
}

std::string to_string(const StorageScope& scope) {
  for (const Spelling& row : kSpellings) {
    if (row.scope == scope) return std::string(row.text);
  }
  TL_UNREACHABLE();
}

std::string_view to_string(MemoryScope scope) {
  switch (scope) {
    case MemoryScope::Global:
      return "global";
    case MemoryScope::Shared:
      return "shared";
    case MemoryScope::Local:
      return "local";
    case MemoryScope::Fragment:
      return "fragment";
  }
  TL_UNREACHABLE();
}

std::vector<std::string> scope_spellings() {
  std::vector<std::string> texts;
  for (size_t i = 0; i < kPreferred; ++i) texts.emplace_back(kSpellings[i].text);
  return texts;
}

}  // namespace texloom::ir
