#include "codegen/llvm/legalize.h"

#include <array>

#include "codegen/legalize/steps.h"
#include "codegen/llvm/divide_loops.h"
#include "codegen/llvm/hoist_guards.h"
#include "codegen/llvm/llvm_dialect.h"
#include "codegen/llvm/nontemporal.h"
#include "codegen/llvm/thread_loops.h"
#include "lower/kernels/join_guards.h"

namespace texloom::codegen::native {

namespace {

using enum ir::ProgramStage;
using lower::in_each_kernel;
using lower::Pass;
using Shared = Steps<llvm_dialect>;

// Steps (legalize/steps.h) explains the order of the shared rows.
constexpr std::array kSteps = {
    Shared::distribute_fragments,
    Shared::copy_at_once,
    Pass{"legalize.hoist_guards",
         in_each_kernel<[](ir::Kernel& k, const ir::Target&) { k.body = hoist_guards(k.body); }>,
         Kernels, Kernels, "move guards out of loops that do not change them"},
    Pass{"legalize.divide_loops",
         in_each_kernel<[](ir::Kernel& k, const ir::Target&) { k.body = divide_loops(k.body); }>,
         Kernels, Kernels, "divide loops where conditions on their variables change"},
    Pass{"legalize.join_guards", lower::join_guards, Kernels, Kernels,
         "put loops with equal guards under one guard"},
    Pass{"legalize.run_threads_in_loops",
         in_each_kernel<[](ir::Kernel& k, const ir::Target&) { run_threads_in_loops(k); }>, Kernels,
         Kernels, "run the threads of a block one after the other"},
    Shared::unique_definitions,
    Shared::split_lanes,
    Shared::bind_texels,
    Shared::widen_storage,
    Shared::align_accesses,
    Pass{"legalize.check_nontemporal_stores",
         in_each_kernel<[](ir::Kernel& k, const ir::Target&) { check_nontemporal_stores(k); }>,
         Legalized, Legalized, "refuse non-temporal stores that are not whole, aligned vectors"},
    Shared::make_divisions_explicit,
    Shared::drop_unused_values,
    Shared::verify_dialect,
};

constexpr Pass kLegalize =
    lower::group_of("legalize", kSteps, "bring kernels into a form that LLVM can translate");

}  // namespace

const Pass& legalize_pass() { return kLegalize; }

}  // namespace texloom::codegen::native
