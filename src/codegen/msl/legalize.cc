#include "codegen/msl/legalize.h"

#include <array>

#include "codegen/legalize/steps.h"
#include "codegen/msl/limit_exponents.h"
#include "codegen/msl/msl_dialect.h"
#include "codegen/msl/shuffle_reductions.h"

namespace texloom::codegen::msl {

namespace {

using ir::Kernel;
using enum ir::ProgramStage;
using ir::Target;
using lower::in_each_kernel;
using lower::Pass;
using Shared = Steps<msl_dialect>;

// Steps explains the order of the shared rows. Exponents are limited when their types are final,
// and before comparisons of integers are made; then values are shuffled in these types.
constexpr std::array kSteps = {
    Shared::unique_definitions,
    Shared::split_lanes,
    Shared::bind_texels,
    Shared::widen_storage,
    Pass{"legalize.limit_exponents",
         in_each_kernel<[](Kernel& k, const Target&) { k.body = limit_exponents(k.body); }>,
         Legalized, Legalized, "make the conversion of ldexp's exponents to integers defined"},
    Pass{"legalize.shuffle_reductions", in_each_kernel<shuffle_reductions>, Legalized, Legalized,
         "combine the parts of reductions in SIMD-groups without shared memory"},
    Shared::align_accesses,
    Shared::make_integers_explicit,
    Shared::drop_unused_values,
    Shared::verify_dialect,
};

constexpr Pass kLegalize = lower::group_of(
    "legalize", kSteps, "bring kernels into a form that Metal's language can spell");

}  // namespace

const Pass& legalize_pass() { return kLegalize; }

}  // namespace texloom::codegen::msl
