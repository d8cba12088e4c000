#include "ir/loop_kind.h"

#include <algorithm>
#include <array>

namespace texloom::ir {
namespace {

struct Row {
  LoopKind kind;
  std::string_view adjective, loop_word, directive;
};
// The rows are in the order of the kinds.
constexpr std::array kRows = {
    Row{LoopKind::Serial, "serial", "for", "serial"},
    Row{LoopKind::Unrolled, "unrolled", "unrolled", "unroll"},
    Row{LoopKind::Vectorized, "vectorized", "vectorized", "vectorize"},
    Row{LoopKind::Thread, "thread", "thread", "bind"},
    Row{LoopKind::Virtual, "virtual", "virtual", "bind"},
    Row{LoopKind::Parallel, "parallel", "parallel", "parallel"},
};

const Row& row(LoopKind kind) { return kRows[static_cast<size_t>(kind)]; }

}  // namespace

std::string_view to_string(LoopKind kind) { return row(kind).adjective; }
std::string_view loop_word(LoopKind kind) { return row(kind).loop_word; }
std::string_view directive_for(LoopKind kind) { return row(kind).directive; }

std::optional<LoopKind> find_loop_kind(std::string_view loop_word) {
  const auto* found = std::ranges::find(kRows, loop_word, &Row::loop_word);
  return found == kRows.end() ? std::nullopt : std::optional(found->kind);
}

}  // namespace texloom::ir
