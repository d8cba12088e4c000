#include "codegen/opencl/legalize.h"

#include <array>

#include "codegen/legalize/align_access.h"
#include "codegen/legalize/integer_arithmetic.h"
#include "codegen/legalize/split_lanes.h"
#include "codegen/legalize/unused_values.h"
#include "codegen/legalize/verify_dialect.h"
#include "codegen/legalize/widen_storage.h"
#include "codegen/opencl/barrier_after_loops.h"
#include "codegen/opencl/opencl_dialect.h"
#include "codegen/opencl/vector_conditions.h"
#include "lower/kernels/share_texels.h"
#include "lower/kernels/unique_definitions.h"

namespace texloom::codegen::opencl {

namespace {

using ir::Kernel;
using enum ir::ProgramStage;
using ir::Target;
using lower::in_each_kernel;
using lower::Pass;

// The order has these reasons: definitions are unique before any step identifies expressions by
// their variables; lanes are split on the user's types, which turns one read of a texel into
// several; texels are shared before types are widened, while equal reads are equal nodes; accesses
// are aligned on the final types of arrays, before integer operations, since alignment makes
// divisions; vector conditions depend on the final widths of types.
constexpr std::array kSteps = {
    Pass{"legalize.unique_definitions", lower::unique_definitions, Kernels, Kernels,
         "define each variable and buffer once"},
    Pass{"legalize.split_lanes", in_each_kernel<[](Kernel& k, const Target& t) {
           k.body = split_lanes(k.body, opencl_dialect(t));
         }>,
         Kernels, Kernels,
         "split vectors into those that OpenCL C has, gather elements that are not consecutive"},
    Pass{"legalize.bind_texels",
         in_each_kernel<[](Kernel& k, const Target&) { k.body = lower::bind_texels(k.body); }>,
         Kernels, Kernels, "read a texel once if split lanes read it several times"},
    Pass{"legalize.widen_storage", in_each_kernel<[](Kernel& k, const Target& t) {
           k.body = widen_storage(k.body, opencl_dialect(t));
         }>,
         Kernels, Legalized, "compute in types that OpenCL C supports, and round float16"},
    Pass{"legalize.align_accesses", in_each_kernel<[](Kernel& k, const Target& t) {
           k.body = align_accesses(k.body, ranges_of(k), opencl_dialect(t));
         }>,
         Legalized, Legalized, "find the vector accesses that are aligned"},
    Pass{"legalize.make_integers_explicit", in_each_kernel<[](Kernel& k, const Target&) {
           k.body = make_integers_explicit(k.body, ranges_of(k));
         }>,
         Legalized, Legalized,
         "spell divisions and wrapping arithmetic in terms of what OpenCL C defines"},
    Pass{"legalize.shape_vector_conditions",
         in_each_kernel<[](Kernel& k, const Target&) { k.body = shape_vector_conditions(k.body); }>,
         Legalized, Legalized, "give vector conditions the width of the values they choose"},
    Pass{"legalize.drop_unused_values",
         in_each_kernel<[](Kernel& k, const Target&) { k.body = drop_unused_values(k.body); }>,
         Legalized, Legalized, "drop values that nothing reads"},
    Pass{"legalize.barrier_after_loops", in_each_kernel<[](Kernel& k, const Target& t) {
           if (t.quirks.block_stack) k.body = barrier_after_loops(k.body);
         }>,
         Legalized, Legalized,
         "add a barrier after each loop that contains one, where PoCL needs it"},
    Pass{"legalize.check_dialect", check_dialect, Legalized, Legalized,
         "check that kernels contain only what OpenCL C can spell"},
};

constexpr Pass kLegalize =
    lower::group_of("legalize", kSteps, "bring kernels into a form that OpenCL C can spell");

}  // namespace

void check_dialect(lower::Lowering& lowering) {
  verify_dialect(lowering.program, opencl_dialect(lowering.target));
}

const Pass& legalize_pass() { return kLegalize; }

}  // namespace texloom::codegen::opencl
