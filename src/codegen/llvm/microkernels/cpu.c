// Which features of a target this processor has.
#include "codegen/llvm/microkernels/mmt4d.h"
#include "support/processor/detect.h"

int mmt4d_cpu_has(const char* features) {
  while (*features) {
    const size_t length = strcspn(features, ",");
    if (!texloom_processor_has(features, length)) return 0;
    if (texloom_is_tile_feature(features, length) && !texloom_request_tiles()) return 0;
    features += length;
    features += *features == ',';
  }
  return 1;
}
