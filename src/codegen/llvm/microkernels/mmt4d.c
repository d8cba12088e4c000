#include "codegen/llvm/microkernels/mmt4d.h"

#include "codegen/llvm/microkernels/choose.h"

#define MMT4D_NAME(types, m0, n0, k0, target) mmt4d_##m0##x##n0##x##k0##_##types##_##target

// The functions in the files of tiles/.
#define MMT4D_SKIP(types, m0, n0, k0, target)
#define MMT4D_DECLARE(types, m0, n0, k0, target)                                            \
  void MMT4D_NAME(types, m0, n0, k0, target)(void*, const void*, const void*, const float*, \
                                             int64_t, int64_t, uint32_t);
#define MMT4D_TILE(types, m0, n0, k0, target)                  \
  MMT4D_CHOOSE(MMT4D_THIS_##target, MMT4D_DECLARE, MMT4D_SKIP) \
  (types, m0, n0, k0, target)
#include "codegen/llvm/microkernels/variants.def"

enum {
#define MMT4D_TARGET(target, architecture, features) kTarget_##target,
#include "codegen/llvm/microkernels/variants.def"
};

static const mmt4d_target kTargets[] = {
#define MMT4D_TARGET(target, architecture, features) {#target, #architecture, features},
#include "codegen/llvm/microkernels/variants.def"
};

#define MMT4D_STRING_(text) #text
#define MMT4D_STRING(text) MMT4D_STRING_(text)
#define MMT4D_LIST(types, m0, n0, k0, target)           \
  {MMT4D_STRING(MMT4D_NAME(types, m0, n0, k0, target)), \
   #types,                                              \
   m0,                                                  \
   n0,                                                  \
   k0,                                                  \
   &kTargets[kTarget_##target],                         \
   MMT4D_NAME(types, m0, n0, k0, target)},
static const mmt4d_variant kVariants[] = {
#define MMT4D_TILE(types, m0, n0, k0, target)               \
  MMT4D_CHOOSE(MMT4D_THIS_##target, MMT4D_LIST, MMT4D_SKIP) \
  (types, m0, n0, k0, target)
#include "codegen/llvm/microkernels/variants.def"
};

const mmt4d_variant* mmt4d_variants(size_t* count) {
  *count = sizeof kVariants / sizeof *kVariants;
  return kVariants;
}

void mmt4d(const mmt4d_variant* variant, const mmt4d_arguments* a) {
  for (int64_t m1 = 0; m1 < a->m1; ++m1) {
    const char* left = (const char*)a->left + m1 * a->left_stride;
    for (int64_t n1 = 0; n1 < a->n1; ++n1) {
      const char* right = (const char*)a->right + n1 * a->right_stride;
      const char* scales = (const char*)a->scales;
      if (scales) scales += n1 * a->scales_stride;
      char* sums = (char*)a->sums + m1 * a->row_stride + n1 * a->tile_stride;
      variant->tile(sums, left, right, (const float*)(const void*)scales, a->k1, a->group,
                    a->flags);
    }
  }
}
