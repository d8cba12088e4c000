// The rewrites that the backends of C-like languages share, as rows for their tables.
#pragma once

#include "codegen/c/integer_promotions.h"
#include "codegen/legalize/kernel_ranges.h"
#include "lower/pass.h"

namespace texloom::codegen {

struct CSteps {
  using Stage = ir::ProgramStage;

  // Before Steps::make_divisions_explicit.
  static constexpr lower::Pass make_promotions_explicit{
      "legalize.make_promotions_explicit",
      lower::in_each_kernel<[](ir::Kernel& k, const ir::Target&) {
        k.body = codegen::make_promotions_explicit(k.body, ranges_of(k));
      }>,
      Stage::Legalized, Stage::Legalized,
      "spell wrapping and small integers in terms of what C defines"};
};

}  // namespace texloom::codegen
