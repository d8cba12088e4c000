/* The interface between the compiler and its LLVM plug-in, a shared library that is loaded when it
 * is first needed. Programs and targets are passed as texts, so that the two share no C++ objects.
 */
#ifndef TEXLOOM_CODEGEN_LLVM_PLUGIN_API_H_
#define TEXLOOM_CODEGEN_LLVM_PLUGIN_API_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface: the result of texloom_llvm_version(). */
#define TEXLOOM_LLVM_VERSION 2

/* What a function made. texloom_llvm_free() frees the texts. */
typedef struct texloom_llvm_result {
  char* object; /* the bytes of a shared object; null after an error */
  size_t object_bytes;
  char* listing; /* LLVM's intermediate representation, optimized, for people */
  size_t listing_bytes;
  char* error; /* null, or a message; the rest is then null */
  size_t error_bytes;
} texloom_llvm_result;

/* A processor, in LLVM's words; each may be empty. */
typedef struct texloom_llvm_machine {
  const char* triple;   /* "" for this machine's */
  const char* cpu;      /* "native" for this machine's, "" for one that every such machine has */
  const char* features; /* "+avx2,-fma" */
} texloom_llvm_machine;

int texloom_llvm_version(void);
/* Compiles the kernels of a program at stage Legalized, given in its text form. Thread safe. */
void texloom_llvm_compile(const char* program, size_t program_bytes,
                          const texloom_llvm_machine* machine, texloom_llvm_result* result);
/* Gives the machine's architecture and features as a listing: "x86_64 avx2 fma". Thread safe. */
void texloom_llvm_describe(const texloom_llvm_machine* machine, texloom_llvm_result* result);
void texloom_llvm_free(texloom_llvm_result* result);

#ifdef __cplusplus
}
#endif

#endif
