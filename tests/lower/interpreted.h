// Interprets schedules: the computes as written and the program after each pass, and reports
// faults.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "ir/interpret/interpret.h"
#include "tests/lower/passes.h"
#include "validation/unscheduled.h"

namespace texloom::lower::testing {

using Values = std::vector<double>;

// Small integers that do not repeat along an axis.
inline Values numbers(size_t count, int step = 7, int modulus = 23) {
  Values values;
  for (size_t n = 0; n < count; ++n) {
    values.push_back(static_cast<double>(static_cast<int>(n) * step % modulus - modulus / 2));
  }
  return values;
}

// The faults of the program: reports, or results that differ from the expected ones.
inline std::string problem(const ir::Program& program, const std::vector<Values>& inputs,
                           const Values& expected) {
  std::deque<ir::Memory> memories;
  std::vector<ir::Placement> arguments;
  for (size_t i = 0; i < program.params.size(); ++i) {
    const ir::BufferNode& param = *program.params[i];
    const bool placed = !param.origin.is_zero();
    const int64_t x = placed ? 3 : 0, y = placed ? 1 : 0;
    memories.push_back(memory_for(param, x, y));
    arguments.push_back({&memories.back(), x, y});
    if (i < inputs.size()) fill(param, arguments.back(), inputs[i]);
  }
  std::string text;
  for (const ir::Report& report : interpret(program, arguments)) text += to_string(report) + "\n";
  if (!text.empty()) return text;
  const Values actual = contents(*program.params.back(), arguments.back());
  for (size_t i = 0; i < expected.size(); ++i) {
    if (actual[i] != expected[i]) {
      return fmt::format("element {} is {}, not {}\n", i, actual[i], expected[i]);
    }
  }
  return {};
}

// Interprets the computes as written, then the program after every pass. The output is the last
// parameter; the arguments before it are inputs. Returns the names of the passes with faults. Skips
// programs between split_kernels and insert_barriers, in which threads share memory without
// barriers. Also checks that the text of the schedule lowers to the same program.
inline std::string problems(const Lowering& lowering, const std::vector<Values>& inputs,
                            const Values& expected) {
  std::string text = problem(validation::unscheduled_program(lowering), inputs, expected);
  if (!text.empty()) text = "unscheduled: " + text;
  expect_te_round_trip(lowering, {.locations = true});
  const Lowering last = lower(lowering, [&](const Pass& pass, const Lowering& at) {
    const bool is_step = pass.run != nullptr;  // the pipeline's row for a group has no function
    const bool has_barriers = !pass.name.starts_with("split_kernels");
    if (pass.out == ir::ProgramStage::Te || !is_step || !has_barriers) return;
    const std::string wrong = problem(at.program, inputs, expected);
    if (!wrong.empty()) text += std::string(pass.name) + ": " + wrong;
  });
  expect_text_is_lowered_to(last.program, lowering, pipeline().back().name);
  return text;
}

}  // namespace texloom::lower::testing
