// Compares every variant that this processor can run with plain loops:
//
//   mmt4d_test [--list] [PART_OF_A_NAME...]
//
// Floats are small integers, whose sums are exact; integers are of the whole range. Matrices have
// an odd number of tiles, gaps between panels and between tiles, and K of 0, 1, 1000 and between. A
// page that cannot be read or written follows each matrix. Products of f32 and f64 are also
// compared with a chain of multiply-adds, bit for bit. The exit status is 1 if a variant is wrong.
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "codegen/llvm/microkernels/programs/elements.h"

// Memory that ends where a page begins that must not be touched.
typedef struct {
  unsigned char* pages;
  size_t mapped, size;
  unsigned char* data;
} Guarded;

static Guarded Allocate(size_t size) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  Guarded memory = {0};
  memory.size = size;
  memory.mapped = (size + page - 1) / page * page + page;
  memory.pages =
      mmap(NULL, memory.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory.pages == MAP_FAILED ||
      mprotect(memory.pages + memory.mapped - page, page, PROT_NONE) != 0) {
    perror("mmt4d_test: mmap");
    exit(2);
  }
  memory.data = memory.pages + memory.mapped - page - size;
  memset(memory.data, 0x5a, size);  // what gaps hold
  return memory;
}

static void Free(Guarded memory) { munmap(memory.pages, memory.mapped); }

static uint32_t Random(void) {
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33);
}

static void Store(void* base, Element element, int64_t index, double value) {
  const float single = (float)value;
  uint32_t bits;
  memcpy(&bits, &single, sizeof bits);
  unsigned char* at = (unsigned char*)base + index * BitsOf(element) / 8;
  const int32_t integer = (int32_t)value;
  uint16_t half;
  switch (element) {
    case kF32:
      memcpy(at, &single, sizeof single);
      break;
    case kF64:
      memcpy(at, &value, sizeof value);
      break;
    case kF16:  // an integer of at most 11 bits
      half = (uint16_t)((bits >> 16 & 0x8000) |
                        (single == 0 ? 0 : ((bits >> 23 & 255) - 112) << 10 | (bits >> 13 & 1023)));
      memcpy(at, &half, sizeof half);
      break;
    case kBf16:
      half = (uint16_t)(bits >> 16);
      memcpy(at, &half, sizeof half);
      break;
    case kI16:
      half = (uint16_t)integer;
      memcpy(at, &half, sizeof half);
      break;
    case kI8:
    case kU8:
      *at = (unsigned char)integer;
      break;
    case kI32:
      memcpy(at, &integer, sizeof integer);
      break;
    case kI4:
      break;  // see Pack
  }
}

static double Load(const void* base, Element element, int64_t index) {
  const unsigned char* at = (const unsigned char*)base + index * BitsOf(element) / 8;
  float single;
  double value;
  int32_t integer;
  switch (element) {
    case kF32:
      memcpy(&single, at, sizeof single);
      return single;
    case kF64:
      memcpy(&value, at, sizeof value);
      return value;
    default:
      memcpy(&integer, at, sizeof integer);
      return integer;
  }
}

// A value of a matrix: of the whole range for integers, often at its ends.
static double Value(Element element, int exact) {
  static const int kLow[] = {-8, -8, -8, -8, -128, 0, -32768, -8};
  static const int kHigh[] = {8, 8, 8, 8, 127, 255, 32767, 7};
  const int low = kLow[element], high = kHigh[element];
  if (!exact) return (double)(float)((Random() % 2000001 - 1e6) * 1e-6);
  if (!IsFloat(element) && Random() % 4 == 0) return Random() % 2 ? low : high;
  return low + (int)(Random() % (uint32_t)(high - low + 1));
}

// One side of a product: `values` is [length, depth]; panels hold `rows` of them.
typedef struct {
  double* values;
  Guarded packed;
  int64_t stride;
} Side;

static Side Pack(Element element, int64_t panels, int rows, int k0, int64_t k1, int64_t depth,
                 int64_t gap, int exact) {
  const int64_t panel = k1 * rows * k0 * BitsOf(element) / 8;
  Side side;
  side.stride = panel + gap * ((BitsOf(element) + 7) / 8);
  side.packed = Allocate((size_t)(panels == 0 ? 0 : (panels - 1) * side.stride + panel));
  side.values = calloc((size_t)(panels * rows * depth + 1), sizeof *side.values);
  for (int64_t i = 0; i < panels * rows * depth; ++i) side.values[i] = Value(element, exact);
  for (int64_t p = 0; p < panels; ++p) {
    unsigned char* at = side.packed.data + p * side.stride;
    for (int64_t k = 0; k < k1 * k0; ++k) {
      for (int r = 0; r < rows; ++r) {
        const double value = k < depth ? side.values[(p * rows + r) * depth + k] : 0;
        const int64_t inner = k % k0, column = (k / k0 * rows + r) * k0;
        if (element != kI4) {
          Store(at, element, column + inner, value);
          continue;
        }
        unsigned char* byte = at + column / 2 + inner % (k0 / 2);
        const unsigned nibble = (unsigned)(int)value & 15;
        *byte = (unsigned char)(inner < k0 / 2 ? nibble : *byte | nibble << 4);
      }
    }
  }
  return side;
}

typedef struct {
  int64_t m1, n1, depth, group;
  uint32_t flags;
  int exact;  // otherwise floats that round
} Case;

// Whether a target multiplies and adds with one rounding.
static int IsFused(const mmt4d_target* target) {
  return strstr(target->features, "fma") || strstr(target->features, "avx512f") ||
         strcmp(target->architecture, "aarch64") == 0;
}

// The sum that belongs at [row, column], which held `sum`.
static double Expected(const mmt4d_variant* v, const Case* c, const double* left,
                       const double* right, const float* scales, double sum) {
  const Types types = TypesOf(v);
  if (!(c->flags & MMT4D_ACCUMULATE)) sum = 0;
  if (types.sums == kI32) {
    uint32_t integer = (uint32_t)(int32_t)sum;
    for (int64_t k = 0; k < c->depth; ++k) {
      integer += (uint32_t)(int32_t)left[k] * (uint32_t)(int32_t)right[k];
    }
    return (int32_t)integer;
  }
  if (types.right == kI4) {
    const int64_t length = c->group * v->k0;
    for (int64_t k = 0; k < c->depth; ++k) {
      sum += left[k] * right[k] * (double)scales[k / length * v->n0];
    }
    return sum;
  }
  for (int64_t k = 0; k < c->depth; ++k) {
    if (types.sums == kF64) {
      sum = IsFused(v->target) ? fma(left[k], right[k], sum) : sum + left[k] * right[k];
    } else {
      const float a = (float)left[k], b = (float)right[k], s = (float)sum;
      volatile float product = a * b;  // rounded before it is added
      sum = IsFused(v->target) ? fmaf(a, b, s) : s + product;
    }
  }
  return sum;
}

static int IsRight(const mmt4d_variant* v, const Case* c) {
  const Types types = TypesOf(v);
  const int64_t k1 = (c->depth + v->k0 - 1) / v->k0, groups = (k1 + c->group - 1) / c->group;
  const Side left = Pack(types.left, c->m1, v->m0, v->k0, k1, c->depth, 3, c->exact);
  const Side right = Pack(types.right, c->n1, v->n0, v->k0, k1, c->depth, 5, c->exact);
  const int64_t bytes = BitsOf(types.sums) / 8, tile = v->m0 * v->n0;
  const Guarded scales = Allocate((size_t)(c->n1 * groups * v->n0) * sizeof(float));
  for (int64_t i = 0; i < c->n1 * groups * v->n0; ++i) {
    Store(scales.data, kF32, i, (double)(1 << Random() % 3) / 2);
  }
  mmt4d_arguments a = {0};
  a.tile_stride = (tile + 7) * bytes;
  a.row_stride = c->n1 * a.tile_stride + 11 * bytes;
  const Guarded sums =
      Allocate((size_t)((c->m1 - 1) * a.row_stride + (c->n1 - 1) * a.tile_stride + tile * bytes));
  unsigned char* before = malloc(sums.size);
  for (int64_t m1 = 0; m1 < c->m1; ++m1) {
    for (int64_t n1 = 0; n1 < c->n1; ++n1) {
      for (int64_t i = 0; i < tile; ++i) {
        Store(sums.data + m1 * a.row_stride + n1 * a.tile_stride, types.sums, i,
              (double)(Random() % 1000) - 500);
      }
    }
  }
  memcpy(before, sums.data, sums.size);

  a.left = left.packed.data, a.right = right.packed.data, a.sums = sums.data;
  a.scales = types.right == kI4 ? (const float*)(const void*)scales.data : NULL;
  a.m1 = c->m1, a.n1 = c->n1, a.k1 = k1;
  a.left_stride = left.stride, a.right_stride = right.stride;
  a.scales_stride = groups * v->n0 * (int64_t)sizeof(float);
  a.group = c->group, a.flags = c->flags;
  mmt4d(v, &a);

  int wrong = 0;
  for (int64_t m1 = 0; m1 < c->m1; ++m1) {
    for (int64_t n1 = 0; n1 < c->n1; ++n1) {
      const int64_t at = m1 * a.row_stride + n1 * a.tile_stride;
      for (int64_t i = 0; i < tile; ++i) {
        const int64_t row = m1 * v->m0 + i / v->n0, column = n1 * v->n0 + i % v->n0;
        const double expected =
            Expected(v, c, left.values + row * c->depth, right.values + column * c->depth,
                     (const float*)(const void*)scales.data + n1 * groups * v->n0 + i % v->n0,
                     Load(before + at, types.sums, i));
        const double got = Load(sums.data + at, types.sums, i);
        if (got != expected && wrong++ == 0) {
          printf("FAILED   %s\n  M1 %d, N1 %d, K %d, group %d%s: [%d, %d] is %.9g, not %.9g\n",
                 v->name, (int)c->m1, (int)c->n1, (int)c->depth, (int)c->group,
                 c->flags & MMT4D_ACCUMULATE ? ", accumulates" : "", (int)row, (int)column, got,
                 expected);
        }
        memcpy(before + at + i * bytes, sums.data + at + i * bytes, (size_t)bytes);
      }
    }
  }
  // What remains different is between tiles.
  if (memcmp(before, sums.data, sums.size) != 0 && wrong++ == 0) {
    printf("FAILED   %s\n  K %d: writes between tiles\n", v->name, (int)c->depth);
  }
  free(before);
  free(left.values);
  free(right.values);
  Free(left.packed);
  Free(right.packed);
  Free(scales);
  Free(sums);
  return wrong == 0;
}

// Returns the number of cases, or 0 if one is wrong.
static int Test(const mmt4d_variant* v) {
  static const int64_t kDepths[] = {0, 1, 2, 7, 16, 33, 64, 131, 1000};
  int cases = 0;
  const Types types = TypesOf(v);
  for (size_t i = 0; i < sizeof kDepths / sizeof *kDepths; ++i) {
    for (uint32_t flags = 0; flags <= MMT4D_ACCUMULATE; ++flags) {
      const int long_one = kDepths[i] == 1000;
      Case c = {long_one ? 1 : 3, long_one ? 2 : 3, kDepths[i], 4, flags, 1};
      if (!IsRight(v, &c)) return 0;
      ++cases;
      if (types.right == kI4) {
        c.group = i % 2 ? 1 : 1000;
        if (!IsRight(v, &c)) return 0;
        ++cases;
      }
      if (types.left == kF32 || types.left == kF64) {
        c.exact = 0;
        if (!IsRight(v, &c)) return 0;
        ++cases;
      }
    }
  }
  return cases;
}

static int IsChosen(const char* name, int argc, char** argv) {
  int parts = 0;
  for (int i = 1; i < argc; ++i) {
    if (strncmp(argv[i], "--", 2) == 0) continue;
    ++parts;
    if (strstr(name, argv[i])) return 1;
  }
  return parts == 0;
}

int main(int argc, char** argv) {
  size_t count;
  const mmt4d_variant* variants = mmt4d_variants(&count);
  int list = 0;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--list") == 0) {
      list = 1;
    } else if (strncmp(argv[i], "-", 1) == 0) {
      printf("usage: mmt4d_test [--list] [PART_OF_A_NAME...]\n");
      return strcmp(argv[i], "--help") == 0 ? 0 : 2;
    }
  }
  int passed = 0, failed = 0, skipped = 0;
  for (size_t i = 0; i < count; ++i) {
    const mmt4d_variant* v = &variants[i];
    char reason[256];
    if (!IsChosen(v->name, argc, argv)) continue;
    const char* why_not = WhyNot(v, reason, sizeof reason);
    if (list) {
      printf("%s%s%s\n", v->name, why_not ? ": " : "", why_not ? why_not : "");
    } else if (why_not) {
      printf("skipped  %s: %s\n", v->name, why_not);
      ++skipped;
    } else {
      const int cases = Test(v);
      if (cases) printf("passed   %s, %d cases\n", v->name, cases);
      ++*(cases ? &passed : &failed);
    }
    fflush(stdout);  // the name of the last one is known if it crashes
  }
  if (!list) printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
  return failed != 0 || (!list && passed + skipped == 0);
}
