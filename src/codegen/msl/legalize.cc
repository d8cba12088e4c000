#include "codegen/msl/legalize.h"

#include <array>

#include "codegen/c/steps.h"
#include "codegen/legalize/shuffles/shuffle_reductions.h"
#include "codegen/legalize/steps.h"
#include "codegen/msl/msl_dialect.h"

namespace texloom::codegen::msl {

namespace {

using ir::Kernel;
using enum ir::ProgramStage;
using ir::Target;
using lower::in_each_kernel;
using lower::Pass;
using Shared = Steps<msl_dialect>;

// Steps (legalize/steps.h) explains the order of the shared rows. Values are shuffled in their
// final types.
constexpr std::array kSteps = {
    Shared::unique_definitions,
    Shared::distribute_fragments,
    Shared::copy_at_once,
    Shared::split_lanes,
    Shared::bind_texels,
    Shared::widen_storage,
    Shared::check_limits,
    Shared::expand_functions,
    Shared::limit_exponents,
    Pass{"legalize.shuffle_reductions", in_each_kernel<[](Kernel& k, const Target& t) {
           shuffle_reductions(k, t, msl_dialect(t));
         }>,
         Legalized, Legalized,
         "combine the parts of reductions in SIMD-groups without shared memory"},
    Shared::align_accesses,
    CSteps::make_promotions_explicit,
    Shared::make_divisions_explicit,
    Shared::drop_unused_values,
    Shared::verify_dialect,
};

constexpr Pass kLegalize = lower::group_of(
    "legalize", kSteps, "bring kernels into a form that Metal's language can spell");

}  // namespace

const Pass& legalize_pass() { return kLegalize; }

}  // namespace texloom::codegen::msl
