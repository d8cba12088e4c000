// Lowers small te programs up to a given pass.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "ir/visit.h"
#include "lower/pipeline.h"
#include "tests/ir/text/round_trip.h"
#include "tests/lower/te_round_trip.h"
#include "tests/schedule/te.h"

namespace texloom::lower::testing {

using schedule::testing::Te;

// Outputs that are not among the arguments are appended.
inline Lowering lowering_of(const Te& te, std::vector<ir::Tensor> arguments) {
  Lowering lowering;
  lowering.schedule = te.s;
  for (const schedule::StageId id : te.s.order()) {
    const schedule::Stage& stage = te.s.stage(id);
    if (!stage.is_output) continue;
    const bool known = std::any_of(
        arguments.begin(), arguments.end(),
        [&](const ir::Tensor& tensor) { return te.s.find(schedule::operation_of(tensor)) == id; });
    if (!known) arguments.push_back(schedule::output_of(stage.op));
  }
  for (const ir::Tensor& tensor : arguments) lowering.arguments.push_back({tensor, {}});
  lowering.location = schedule::testing::line(90);
  lowering.program.name = "main";
  lowering.verify_each = true;
  return lowering;
}

inline BufferDeclaration declaration(std::string_view scope, const std::vector<int64_t>& shape,
                                     ir::Type type = ir::kFloat32) {
  ir::Exprs extents;
  for (const int64_t extent : shape) extents.push_back(ir::make_int(extent));
  return {.name = "",
          .type = type,
          .shape = std::move(extents),
          .scope = *ir::parse_scope(scope),
          .location = schedule::testing::line(80)};
}

inline void expect_round_trip(const Lowering& lowering, ir::PrintOptions options = {}) {
  if (lowering.program.stage == ir::ProgramStage::Te)
    return expect_te_round_trip(lowering, options);
  ir::expect_round_trip(lowering.program, options);
}

// Runs the passes up to the named one. Checks that the program round-trips through text after each
// pass, and that the text of the schedule lowers to the same program.
inline void run_to(Lowering& lowering, std::string_view last) {
  expect_round_trip(lowering, {.locations = true});
  const Lowering first = lowering;
  for (const Pass& pass : pipeline()) {
    for (const Pass* row : rows_of({&pass, 1})) {
      if (row->run == nullptr) continue;
      row->run(lowering);
      lowering.program.stage = row->out;
      expect_round_trip(lowering);
    }
    if (pass.name == last) break;
  }
  expect_text_is_lowered_to(lowering.program, first, last);
}

// The statements after the named pass.
inline std::string after(std::string_view pass, Lowering lowering) {
  run_to(lowering, pass);
  return to_string(lowering.program.body);
}
inline std::string after(std::string_view pass, const Te& te,
                         const std::vector<ir::Tensor>& arguments) {
  return after(pass, lowering_of(te, arguments));
}

// The statement after one pass.
inline std::string after(void (*pass)(Lowering&), const ir::Stmt& body) {
  Lowering lowering;
  lowering.program.body = body;
  pass(lowering);
  return to_string(lowering.program.body);
}
// The body of one kernel after one pass.
inline std::string in_kernel(void (*pass)(Lowering&), const ir::Stmt& body) {
  Lowering lowering;
  lowering.program.kernels.emplace_back().body = body;
  lowering.program.kernels.front().block = {4, 1, 1};
  pass(lowering);
  return to_string(lowering.program.kernels.front().body);
}

// A launch plan, one line per statement.
inline std::string plan_of(const ir::Program& program) {
  std::string text;
  ir::walk(
      program.body, [&](const ir::Allocate& n) { text += "allocate " + n.buffer->name + "\n"; },
      [&](const ir::Launch& n) {
        text += "launch " + program.kernels.at(static_cast<size_t>(n.kernel)).name + "\n";
      },
      [&](const ir::Free& n) { text += "free " + n.buffer->name + "\n"; });
  return text;
}

}  // namespace texloom::lower::testing
