#include "lower/pipeline.h"

#include <array>

#include "lower/barriers/drop_barriers.h"
#include "lower/barriers/insert_barriers.h"
#include "lower/build/build_loops.h"
#include "lower/build/widen_symbols.h"
#include "lower/kernels/bind_parallel_loops.h"
#include "lower/kernels/contract_fma.h"
#include "lower/kernels/drop_border_guards.h"
#include "lower/kernels/hoist_divisions.h"
#include "lower/kernels/join_guards.h"
#include "lower/kernels/partition_loops.h"
#include "lower/kernels/reuse_shared_memory.h"
#include "lower/kernels/share_texels.h"
#include "lower/kernels/split_kernels.h"
#include "lower/kernels/unique_definitions.h"
#include "lower/loops/check_accesses.h"
#include "lower/loops/check_fragments.h"
#include "lower/loops/flatten_storage.h"
#include "lower/loops/inject_virtual_threads.h"
#include "lower/loops/pipeline_loops.h"
#include "lower/loops/simplify_program.h"
#include "lower/loops/unroll_loops.h"
#include "lower/loops/vectorize_loops.h"
#include "lower/schedule/apply_declarations.h"
#include "lower/schedule/check_schedule.h"
#include "lower/schedule/check_symbols.h"
#include "lower/schedule/inline_stages.h"
#include "lower/schedule/keep_in_blocks.h"
#include "lower/schedule/vectorize_texels.h"

namespace texloom::lower {
namespace {

using enum ir::ProgramStage;

// Brings a schedule into the form that the rest of the pipeline expects: each scope that an
// argument declares is set, no stage reads an inlined stage, and each texture stage has a
// vectorized loop of extent 4 over its lanes. Declarations show which caches are copies of
// textures; such caches are inlined like other stages, and lanes are split in the remaining stages.
constexpr std::array kPrepareSchedule = {
    Pass{"prepare_schedule.check_scalars", check_scalars, Te, Te,
         "refuse variables that are not an axis, an extent or an argument"},
    Pass{"prepare_schedule.check_outputs_at_root", check_outputs_at_root, Te, Te,
         "refuse outputs that are attached or inlined"},
    Pass{"prepare_schedule.keep_at_root", keep_at_root, Te, Te,
         "give loops of their own to stages that cannot be inlined"},
    Pass{"prepare_schedule.warn_of_lost_directives", warn_of_lost_directives, Te, Te,
         "warn of directives on loops of inlined stages"},
    Pass{"prepare_schedule.apply_declarations", apply_declarations, Te, Te,
         "give the stages of arguments the storage that decl_buffer declares"},
    Pass{"prepare_schedule.drop_copies_of_textures", drop_copies_of_textures, Te, Te,
         "inline caches of arguments that are in the same kind of texture"},
    Pass{"prepare_schedule.apply_transforms", apply_transforms, Te, Te,
         "turn transform_layout into layouts of the stages' axes"},
    Pass{"prepare_schedule.inline_stages", inline_stages, Te, Te,
         "substitute the expressions of inlined stages into their readers"},
    Pass{"prepare_schedule.vectorize_texels", vectorize_texels, Te, Te,
         "split and vectorize the lane axis of stages in textures"},
    Pass{"prepare_schedule.keep_in_blocks", keep_in_blocks, Te, Te,
         "keep what schedules for processors compute inside of loops in the memory of a block"},
};

constexpr std::array kBuildLoops = {
    Pass{"build_loops.build_nests", build_nests, Te, Loops,
         "infer bounds, choose layouts and make the loop nests of the stages"},
    Pass{"build_loops.widen_symbols", widen_symbols, Loops, Loops,
         "pass symbols in types that kernels accept"},
};

constexpr std::array kSplitKernels = {
    Pass{"split_kernels.bind_parallel_loops", bind_parallel_loops, Flattened, Flattened,
         "make the outermost parallel loops the grid, on processors"},
    Pass{"split_kernels.reuse_shared_memory", reuse_shared_memory, Flattened, Flattened,
         "let arrays that are never alive together be one, where shared memory is too small"},
    Pass{"split_kernels.launch_nests",
         launch_nests,
         Flattened,
         Kernels,
         "make a kernel of each nest and launch it from the plan",
         {},
         true},
    Pass{"split_kernels.free_temporaries",
         free_temporaries,
         Kernels,
         Kernels,
         "free each temporary after the last launch that uses it",
         {},
         true},
};

constexpr std::array kInsertBarriers = {
    Pass{"insert_barriers.place_barriers", place_barriers, Kernels, Kernels,
         "put a barrier between conflicting accesses of threads"},
    Pass{"insert_barriers.drop_barriers", drop_barriers, Kernels, Kernels,
         "drop barriers that separate nothing"},
};

constexpr std::array kShareTexels = {
    Pass{"share_texels.unique_definitions", unique_definitions, Kernels, Kernels,
         "define each variable and buffer once"},
    Pass{"share_texels.bind_texels", bind_texels, Kernels, Kernels,
         "bind a texel to a variable where several expressions read it"},
};

constexpr std::array kPipeline = {
    // Runs before bounds are inferred: bound inference treats a split of lanes like any other
    // split.
    group_of("prepare_schedule", kPrepareSchedule,
             "apply argument layouts, inline stages, split lane axes"),
    Pass{"check_schedule", check_schedule, Te, Te, "refuse schedules that are wrong as a whole"},
    group_of("build_loops", kBuildLoops, "infer bounds, choose layouts and make the loop nests"),
    Pass{"pipeline_loops", pipeline_loops, Loops, Loops,
         "run the fills of pipelined buffers ahead of the loops that read them"},
    // Runs before storage is flattened, while four consecutive lanes of an N-d index are a texel.
    Pass{"vectorize_loops", vectorize_loops, Loops, Loops,
         "turn vectorized loops into vector expressions"},
    Pass{"inject_virtual_threads", inject_virtual_threads, Loops, Loops,
         "run virtual threads one after the other inside each statement"},
    Pass{"unroll_loops", unroll_loops, Loops, Loops,
         "copy the bodies of unrolled loops and of loops over lanes"},
    Pass{"check_accesses", check_accesses, Loops, Loops, "test indices, if the target asks for it"},
    Pass{"flatten_storage", flatten_storage, Loops, Flattened,
         "turn N-d accesses into linear offsets and texels"},
    Pass{"simplify_program", simplify_program, Flattened, Flattened,
         "simplify indices and drop loops of one iteration"},
    Pass{"check_fragments", check_fragments, Flattened, Flattened,
         "refuse elements of fragments that are not known"},
    group_of("split_kernels", kSplitKernels, "make kernels of the nests and a launch plan"),
    // Runs after split_kernels: kernels show which loops are threads.
    group_of("insert_barriers", kInsertBarriers, "separate writes and reads of shared buffers"),
    Pass{"drop_border_guards", drop_border_guards, Kernels, Kernels,
         "leave zero padding to the border of exact images"},
    Pass{"partition_loops", partition_loops, Kernels, Kernels,
         "remove bounds tests from interior tiles"},
    Pass{"join_guards", join_guards, Kernels, Kernels,
         "put adjacent statements with equal guards under one guard"},
    Pass{"hoist_divisions", hoist_divisions, Kernels, Kernels,
         "move divisions out of loops that do not change them"},
    // Runs after unrolling, which puts the copies side by side.
    group_of("share_texels", kShareTexels, "read a texel once where several expressions need it"),
    Pass{"contract_fma", contract_fma, Kernels, Kernels,
         "contract to fma, if the math mode allows "
         "it"},
};

// The number of passes before split_kernels, which needs every nest bound to threads.
constexpr size_t kLoopPasses = 11;
static_assert(kPipeline[kLoopPasses].name == "split_kernels");

Lowering lowered(std::span<const Pass> passes, Lowering lowering, PassObserver observer) {
  run_passes(passes, lowering, observer);
  return lowering;
}

}  // namespace

std::span<const Pass> pipeline() { return kPipeline; }

void prepare_schedule(Lowering& lowering) {
  for (const Pass& step : kPrepareSchedule) step.run(lowering);
}

Lowering lower_as_far_as_bound(Lowering lowering, PassObserver observer) {
  const std::span<const Pass> passes = kPipeline;
  Lowering loops = lowered(passes.first(kLoopPasses), std::move(lowering), observer);
  return is_bound_throughout(loops.program) ? make_kernels(std::move(loops), observer) : loops;
}

Lowering make_kernels(Lowering loops, PassObserver observer) {
  const std::span<const Pass> passes = kPipeline;
  return lowered(passes.subspan(kLoopPasses), std::move(loops), observer);
}

Lowering lower(Lowering lowering, PassObserver observer) {
  return lowered(kPipeline, std::move(lowering), observer);
}

Lowering lower(Lowering lowering) {
  return lower(std::move(lowering), [](const Pass&, const Lowering&) {});
}

}  // namespace texloom::lower
