#include "codegen/opencl/legalize.h"

#include <array>

#include "codegen/c/steps.h"
#include "codegen/legalize/steps.h"
#include "codegen/opencl/barrier_after_loops.h"
#include "codegen/opencl/opencl_dialect.h"
#include "codegen/opencl/vector_conditions.h"

namespace texloom::codegen::opencl {

namespace {

using ir::Kernel;
using enum ir::ProgramStage;
using ir::Target;
using lower::in_each_kernel;
using lower::Pass;
using Shared = Steps<opencl_dialect>;

// Steps (legalize/steps.h) explains the order of the shared rows. Vector conditions come late,
// because they depend on the final widths of types.
constexpr std::array kSteps = {
    Shared::unique_definitions,
    Shared::distribute_fragments,
    Shared::copy_at_once,
    Shared::split_lanes,
    Shared::bind_texels,
    Shared::widen_storage,
    Shared::check_limits,
    Shared::expand_functions,
    Shared::align_accesses,
    CSteps::make_promotions_explicit,
    Shared::make_divisions_explicit,
    Pass{"legalize.shape_vector_conditions",
         in_each_kernel<[](Kernel& k, const Target&) { k.body = shape_vector_conditions(k.body); }>,
         Legalized, Legalized, "give vector conditions the width of the values they choose"},
    Shared::drop_unused_values,
    Pass{"legalize.barrier_after_loops", in_each_kernel<[](Kernel& k, const Target& t) {
           if (t.device_class == ir::DeviceClass::Cpu) k.body = barrier_after_loops(k.body);
         }>,
         Legalized, Legalized,
         "add a barrier after each loop that contains one, where PoCL needs it"},
    Shared::verify_dialect,
};

constexpr Pass kLegalize =
    lower::group_of("legalize", kSteps, "bring kernels into a form that OpenCL C can spell");

}  // namespace

const Pass& legalize_pass() { return kLegalize; }

}  // namespace texloom::codegen::opencl
