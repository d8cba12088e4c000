// The kinds of loops, and their words in the text form, in schedules and in messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace texloom::ir {

enum class LoopKind : uint8_t {
  Serial,
  Unrolled,
  Vectorized,
  Thread,
  // Iterations that behave like threads of the block but run one after the other, statement by
  // statement (lower/loops/inject_virtual_threads.h).
  Virtual,
  // Iterations that may run concurrently. A loop of a schedule only: build_loops makes it Serial.
  Parallel,
};

// Whether one thread runs all iterations, in order.
constexpr bool is_sequential(LoopKind kind) {
  return kind == LoopKind::Serial || kind == LoopKind::Unrolled || kind == LoopKind::Parallel;
}

// As an adjective: "serial", "unrolled", "vectorized", "thread", "virtual", "parallel".
std::string_view to_string(LoopKind kind);
// The word that begins the loop in a program: "for", "unrolled", ...
std::string_view loop_word(LoopKind kind);
std::optional<LoopKind> find_loop_kind(std::string_view loop_word);
// The directive that gives a loop this kind: "unroll", "vectorize", "bind", ...
std::string_view directive_for(LoopKind kind);

}  // namespace texloom::ir
