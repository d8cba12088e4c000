// Elements of the types of variants, for the programs that test and measure them.
#ifndef TEXLOOM_CODEGEN_LLVM_MICROKERNELS_PROGRAMS_ELEMENTS_H_
#define TEXLOOM_CODEGEN_LLVM_MICROKERNELS_PROGRAMS_ELEMENTS_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/llvm/microkernels/mmt4d.h"

typedef enum { kF32, kF64, kF16, kBf16, kI8, kU8, kI16, kI4, kI32 } Element;

typedef struct {
  Element left, right, sums;
} Types;

static inline const char* ParseElement(const char* text, Element* element) {
  static const char* const kNames[] = {"f32", "f64", "f16", "bf16", "i8", "u8", "i16", "i4", "i32"};
  for (int i = 0; i < 9; ++i) {
    const size_t length = strlen(kNames[i]);
    if (strncmp(text, kNames[i], length) != 0) continue;
    *element = (Element)i;
    return text + length;
  }
  fprintf(stderr, "unknown element type: %s\n", text);
  exit(2);
}

static inline Types TypesOf(const mmt4d_variant* variant) {
  Types types;
  const char* rest = ParseElement(variant->types, &types.left);
  rest = ParseElement(rest, &types.right);
  ParseElement(rest, &types.sums);
  return types;
}

static inline int64_t BitsOf(Element element) {
  static const int kBits[] = {32, 64, 16, 16, 8, 8, 16, 4, 32};
  return kBits[element];
}

static inline int IsFloat(Element element) { return element <= kBf16; }

// What keeps this processor from running a variant, or null. `buffer` holds the text.
static inline const char* WhyNot(const mmt4d_variant* variant, char* buffer, size_t size) {
  const char* features = variant->target->features;
  if (mmt4d_cpu_has(features)) return NULL;
  size_t used = (size_t)snprintf(buffer, size, "this processor or system lacks");
  while (*features) {
    const size_t length = strcspn(features, ",");
    char one[32];
    snprintf(one, sizeof one, "%.*s", (int)length, features);
    if (!mmt4d_cpu_has(one)) used += (size_t)snprintf(buffer + used, size - used, " %s", one);
    features += length + (features[length] == ',');
  }
  return buffer;
}

#endif  // TEXLOOM_CODEGEN_LLVM_MICROKERNELS_PROGRAMS_ELEMENTS_H_
