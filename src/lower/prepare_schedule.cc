#include "lower/prepare_schedule.h"

#include "lower/inline_stages.h"
#include "lower/stated_storage.h"
#include "lower/symbols.h"
#include "lower/vectorize_texels.h"

namespace texloom::lower {

// Declarations tell which caches are copies of textures; those are inlined like other stages, and
// lanes are split of what is left.
void prepare_schedule(Lowering& lowering) {
  schedule::Schedule& s = lowering.schedule;
  check_scalars(lowering);
  check_outputs_at_root(s);
  keep_at_root(s);
  warn_of_lost_directives(lowering);
  apply_declarations(lowering);
  drop_copies_of_textures(s);
  apply_transforms(s);
  inline_stages(s);
  vectorize_texels(lowering);
}

}  // namespace texloom::lower
