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
#define TEXLOOM_LLVM_VERSION 7

/* What a function made. texloom_llvm_free() frees the texts. Without an object, a listing and an
 * error, there was no memory. */
typedef struct texloom_llvm_result {
  char* object; /* the bytes of an object; null after an error */
  size_t object_bytes;
  char* listing; /* LLVM's intermediate representation, optimized, or a description */
  size_t listing_bytes;
  char* error; /* null, or a message; the rest is then null */
  size_t error_bytes;
  char* help; /* what the user can do about the error; null if it is a bug in Texloom */
  size_t help_bytes;
} texloom_llvm_result;

/* A processor, in LLVM's words; each may be empty. */
typedef struct texloom_llvm_machine {
  const char* triple;   /* "" for this machine's */
  const char* cpu;      /* "native" for this machine's, "" for one that every such machine has */
  const char* features; /* "+avx2,-fma" */
} texloom_llvm_machine;

typedef struct texloom_llvm_object {
  const char* bytes;
  size_t count;
} texloom_llvm_object;

typedef enum texloom_llvm_linked {
  TEXLOOM_LLVM_SHARED = 0,     /* a shared object, which the system's loader can load */
  TEXLOOM_LLVM_RELOCATABLE = 1 /* an object file, for static linking */
} texloom_llvm_linked;

int texloom_llvm_version(void);
/* Compiles the kernels of a program at stage Legalized, given in its text form, to an object file
 * with a function for each kernel, by its name. Functions of one name are taken to be equal. Its
 * note (support/processor/native_code.h) says what the code needs. If `fast_math` is not 0, kernels
 * are computed as with real numbers, but for infinities and NaN. Thread safe. */
void texloom_llvm_compile(const char* program, size_t program_bytes,
                          const texloom_llvm_machine* machine, int fast_math,
                          texloom_llvm_result* result);
/* Gives the machine's architecture and features as a listing: "x86_64 avx2 fma". Three lines
 * follow, the triple, the processor and the features that "" and "native" stand for here. Thread
 * safe. */
void texloom_llvm_describe(const texloom_llvm_machine* machine, texloom_llvm_result* result);
/* Links object files to one object. Thread safe; calls run one after another. */
void texloom_llvm_link(const texloom_llvm_object* objects, size_t count, texloom_llvm_linked kind,
                       texloom_llvm_result* result);
void texloom_llvm_free(texloom_llvm_result* result);

#ifdef __cplusplus
}
#endif

#endif
