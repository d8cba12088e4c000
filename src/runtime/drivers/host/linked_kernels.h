/* Kernels in native code that a program links: object files that Texloom's compiler wrote
 * (docs/cpu.md, "Ahead of time"). C11 and C++. */
#ifndef TEXLOOM_RUNTIME_DRIVERS_HOST_LINKED_KERNELS_H_
#define TEXLOOM_RUNTIME_DRIVERS_HOST_LINKED_KERNELS_H_

#include <stddef.h>

#include "support/processor/native_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct texloom_linked_kernel {
  const char* name;
  texloom_native_kernel* function;
} texloom_linked_kernel;

/* The kernels of an object file. Its header declares one; packages refer to it by name. */
typedef struct texloom_linked_kernels {
  const char* name;
  const texloom_linked_kernel* kernels;
  size_t count;
} texloom_linked_kernels;

#ifdef __cplusplus
}
#endif

#endif
