#include "tests/codegen/interpreted.h"

#include <deque>

#include "ir/interpret/interpret.h"
#include "support/diagnostic.h"
#include "tests/codegen/corpus.h"

namespace texloom::codegen::testing {

std::optional<std::vector<std::vector<std::byte>>> interpreted(const ir::Program& program) {
  if (!program.foreign.empty() || !program.symbols.empty()) return std::nullopt;
  constexpr int64_t kMaxSteps = 100'000;
  std::deque<ir::Memory> memories;
  std::vector<ir::Placement> arguments;
  for (const ir::Buffer& param : program.params) {
    if (param->is_symbolic()) return std::nullopt;
    ir::Memory& memory = memories.emplace_back(memory_for(*param));
    memory.define_all();
    const bool is_float = param->type.is_float(), is_bool = param->type.is_bool();
    for (int64_t i = 0; i < memory.size(); ++i) {
      const int64_t number = is_bool ? i % 3 % 2 : i % 7;
      memory.set(
          i, is_float ? ir::scalar_of(static_cast<double>(number) + 0.5) : ir::scalar_of(number));
    }
    arguments.push_back({&memory});
  }
  try {
    if (!interpret(program, arguments, {.max_steps = kMaxSteps}).empty()) return std::nullopt;
  } catch (const UserError&) {
    return std::nullopt;
  }
  std::vector<std::vector<std::byte>> bytes;
  for (const ir::Memory& memory : memories) bytes.push_back(memory.bytes());
  return bytes;
}

}  // namespace texloom::codegen::testing
