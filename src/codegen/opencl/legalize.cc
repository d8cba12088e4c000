#include "codegen/opencl/legalize.h"

#include <algorithm>
#include <array>

#include "codegen/opencl/align_access.h"
#include "codegen/opencl/integer_arithmetic.h"
#include "codegen/opencl/meet_behind_loops.h"
#include "codegen/opencl/split_lanes.h"
#include "codegen/opencl/unused_values.h"
#include "codegen/opencl/vector_conditions.h"
#include "codegen/opencl/widen_storage.h"
#include "ir/verify.h"
#include "ir/visit.h"
#include "lower/share_texels.h"
#include "lower/unique_definitions.h"

namespace texloom::codegen::opencl {

namespace {

using ir::Kernel;
using enum ir::ProgramStage;
using ir::Target;

// The order is forced at these places: definitions are unique before anything remembers
// expressions by their variables; lanes are split on the user's types, and make several reads of a
// texel out of one; texels are shared while equal ones are equal nodes, so before types are
// widened; accesses are aligned on the final types of arrays, and make divisions; the conditions
// of vectors depend on the final widths of types.
constexpr std::array kSteps = {
    Step{"unique_definitions",
         [](Kernel& k, const Target&) { k.body = lower::unique_definitions(k.body); }, Kernels,
         Kernels, "define each variable and buffer once"},
    Step{"split_lanes", [](Kernel& k, const Target&) { k.body = split_lanes(k.body); }, Kernels,
         Kernels, "cut vectors into those that OpenCL C has, gather what is not consecutive"},
    Step{"share_texels", [](Kernel& k, const Target&) { k.body = lower::share_texels_in(k.body); },
         Kernels, Kernels, "read a texel once where lanes that were split read it several times"},
    Step{"widen_storage",
         [](Kernel& k, const Target& t) { k.body = widen_storage(k.body, t.float16_arithmetic); },
         Kernels, Legalised, "compute in types that OpenCL C computes in; round what is stored"},
    Step{"align_accesses",
         [](Kernel& k, const Target&) { k.body = align_accesses(k.body, ranges_of(k)); }, Legalised,
         Legalised, "find the vector accesses that are aligned"},
    Step{"make_integers_explicit",
         [](Kernel& k, const Target&) { k.body = make_integers_explicit(k.body, ranges_of(k)); },
         Legalised, Legalised,
         "spell divisions and wrapping arithmetic in terms of what OpenCL C defines"},
    Step{"shape_vector_conditions",
         [](Kernel& k, const Target&) { k.body = shape_vector_conditions(k.body); }, Legalised,
         Legalised, "give the conditions of vectors the width of what they choose"},
    Step{"drop_unused_values",
         [](Kernel& k, const Target&) { k.body = drop_unused_values(k.body); }, Legalised,
         Legalised, "leave out what nothing reads any more"},
    Step{"meet_behind_loops",
         [](Kernel& k, const Target& t) {
           if (t.block_stack) k.body = meet_behind_loops(k.body);
         },
         Legalised, Legalised, "let threads that take turns meet behind loops that they meet in"},
};

}  // namespace

std::span<const Step> legalize_steps() { return kSteps; }

ir::Program legalize(const ir::Program& program, const Target& target) {
  TL_CHECK(program.stage == Kernels);
  ir::Program result = program;
  result.stage = Legalised;
  for (Kernel& kernel : result.kernels) {
    for (const Step& step : kSteps) step.run(kernel, target);
  }
  if (!ir::find_violations(result).empty()) {
    // What was not proved of a user's statement before is not proved now.
    ir::verify(result, {.check_accesses = ir::find_violations(program).empty()});
  }
  return result;
}

}  // namespace texloom::codegen::opencl
