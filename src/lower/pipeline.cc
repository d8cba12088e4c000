#include "lower/pipeline.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "ir/verify.h"
#include "lower/build_loops.h"
#include "lower/check_accesses.h"
#include "lower/check_schedule.h"
#include "lower/contract_fma.h"
#include "lower/drop_border_guards.h"
#include "lower/flatten_storage.h"
#include "lower/hoist_divisions.h"
#include "lower/inject_virtual_threads.h"
#include "lower/insert_barriers.h"
#include "lower/partition_loops.h"
#include "lower/pipeline_loops.h"
#include "lower/prepare_schedule.h"
#include "lower/share_texels.h"
#include "lower/simplify_program.h"
#include "lower/split_kernels.h"
#include "lower/text.h"
#include "lower/unroll_loops.h"
#include "lower/vectorize_loops.h"
#include "schedule/tensorized.h"
#include "support/check.h"
#include "support/dump.h"

namespace texloom::lower {
namespace {

using enum ir::ProgramStage;

constexpr std::array kPipeline = {
    // Before bounds are inferred: a split of lanes is a relation like any other.
    Pass{"prepare_schedule", prepare_schedule, Te, Te,
         "apply argument layouts, inline stages, split lane axes"},
    Pass{"check_schedule", check_schedule, Te, Te,
         "refuse what only the whole schedule shows to be wrong"},
    Pass{"build_loops", build_loops, Te, Loops,
         "infer bounds, choose layouts and make the loop nests"},
    Pass{"pipeline_loops", pipeline_loops, Loops, Loops,
         "run the fills of pipelined buffers ahead of the loops that read them"},
    // Before storage is flattened: four consecutive lanes of an N-d index are a texel.
    Pass{"vectorize_loops", vectorize_loops, Loops, Loops,
         "turn vectorised loops into vector expressions"},
    Pass{"inject_virtual_threads", inject_virtual_threads, Loops, Loops,
         "run virtual threads one after the other inside each statement"},
    Pass{"unroll_loops", unroll_loops, Loops, Loops,
         "copy the bodies of unrolled loops and of loops over lanes"},
    Pass{"check_accesses", check_accesses, Loops, Loops, "test indices, if the target asks for it"},
    Pass{"flatten_storage", flatten_storage, Loops, Flattened,
         "turn N-d accesses into linear offsets and texels"},
    Pass{"simplify_program", simplify_program, Flattened, Flattened,
         "simplify indices and drop loops of one iteration"},
    Pass{"split_kernels", split_kernels, Flattened, Kernels,
         "make a kernel of each nest and a launch plan of the rest"},
    // When kernels tell which loops are threads.
    Pass{"insert_barriers", insert_barriers, Kernels, Kernels,
         "separate writes and reads of shared buffers"},
    Pass{"drop_border_guards", drop_border_guards, Kernels, Kernels,
         "leave padding by zeros to the border of exact images"},
    Pass{"partition_loops", partition_loops, Kernels, Kernels,
         "take the bounds tests out of interior tiles"},
    Pass{"hoist_divisions", hoist_divisions, Kernels, Kernels,
         "divide outside of loops what they do not change"},
    // When unrolled copies stand side by side.
    Pass{"share_texels", share_texels, Kernels, Kernels,
         "read a texel once where several expressions want it"},
    Pass{"contract_fma", contract_fma, Kernels, Kernels, "place fma, if the math mode allows it"},
};

// Those before split_kernels, which wants every nest bound to threads.
constexpr size_t kLoopPasses = 10;
static_assert(kPipeline[kLoopPasses].run == split_kernels);

// What the text of the pass's input needs.
Lowering printable(const Lowering& lowering) {
  if (lowering.program.stage == Te) return lowering;
  Lowering copy;
  copy.program = lowering.program;
  copy.array_layouts = lowering.array_layouts;
  copy.symbol_arguments = lowering.symbol_arguments;
  copy.target = lowering.target;
  return copy;
}

// Those of externs and tensor intrinsics are the user's.
bool has_given_statements(const schedule::Schedule& s) {
  return std::any_of(s.order().begin(), s.order().end(), [&](schedule::StageId id) {
    const schedule::Stage& stage = s.stage(id);
    return stage.op->is_extern() || is_tensorized(stage);
  });
}

// Whether each pass has to leave accesses proven, of a program of loops: in given statements they
// may be beyond our proofs from the beginning. Whether there are any only a schedule says.
bool are_accesses_proven(const Lowering& lowering) {
  const bool made_here =
      !lowering.schedule.order().empty() && !has_given_statements(lowering.schedule);
  return made_here || ir::find_violations(lowering.program, {.target = &lowering.target}).empty();
}

InternalError with_input(const std::exception& error, std::span<const Pass> passes,
                         const Lowering& input) {
  std::string names;
  for (const Pass& pass : passes) names += (names.empty() ? "" : ",") + std::string(pass.name);
  // A program of stage te names its target.
  const bool has_target = input.program.stage == Te;
  const std::string target =
      has_target ? "" : fmt::format(" --target='{}'", ir::to_string(input.target));
  return with_dump(error, fmt::format("--pass={} --verify-each{}", names, target),
                   [&] { return to_string(input, {.locations = true}); });
}

// From where the program stands.
Lowering run_further(std::span<const Pass> passes, Lowering lowering, PassObserver observer) {
  const Lowering first = lowering;
  bool check_accesses = lowering.program.stage == Te || are_accesses_proven(lowering);
  for (const Pass& pass : passes) {
    const Lowering input = printable(lowering);
    try {
      run_pass(pass, lowering);
      if (pass.in == Te && pass.out == Loops) {
        check_accesses = are_accesses_proven(lowering);
      }
      if (lowering.verify_each) verify(lowering, check_accesses);
    } catch (const std::logic_error& error) {  // an InternalError, or one of the library's
      throw with_input(error, {&pass, 1}, input);
    }
    observer(pass, lowering);
  }
  if (lowering.verify_each || lowering.program.stage == Te) return lowering;
  try {
    ir::verify(lowering.program, {.target = &lowering.target, .check_accesses = check_accesses});
  } catch (const InternalError& error) {
    throw with_input(error, passes, first);
  }
  return lowering;
}

}  // namespace

void verify(const Lowering& lowering, bool check_accesses) {
  const ir::VerifyOptions options{.target = &lowering.target, .check_accesses = check_accesses};
  if (lowering.program.stage != Te) ir::verify(lowering.program, options);
  check_text(lowering, options);
}

std::span<const Pass> pipeline() { return kPipeline; }

void run_pass(const Pass& pass, Lowering& lowering) {
  TL_CHECK(lowering.program.stage == pass.in, std::string(pass.name));
  try {
    pass.run(lowering);
  } catch (const UserError& error) {
    std::vector<Diagnostic> diagnostics = error.diagnostics();
    for (Diagnostic& d : diagnostics) {
      d.notes.push_back(
          fmt::format("found while lowering '{}', in pass {}", lowering.program.name, pass.name));
    }
    throw UserError(std::move(diagnostics));
  }
  lowering.program.stage = pass.out;
}

Lowering run_passes(std::span<const Pass> passes, Lowering lowering, PassObserver observer) {
  lowering.program.stage = Te;
  if (lowering.verify_each) check_text(lowering);
  return run_further(passes, std::move(lowering), observer);
}

Lowering lower_as_far_as_bound(Lowering lowering, PassObserver observer) {
  const std::span<const Pass> passes = kPipeline;
  Lowering loops = run_passes(passes.first(kLoopPasses), std::move(lowering), observer);
  return is_bound_throughout(loops.program) ? make_kernels(std::move(loops), observer) : loops;
}

Lowering make_kernels(Lowering loops, PassObserver observer) {
  const std::span<const Pass> passes = kPipeline;
  return run_further(passes.subspan(kLoopPasses), std::move(loops), observer);
}

Lowering lower(Lowering lowering, PassObserver observer) {
  return run_passes(kPipeline, std::move(lowering), observer);
}

Lowering lower(Lowering lowering) {
  return lower(std::move(lowering), [](const Pass&, const Lowering&) {});
}

}  // namespace texloom::lower
