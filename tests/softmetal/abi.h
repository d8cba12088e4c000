/* What compiled programs and the runtime share: plain C, read by runtime/calls.c, by the host, and
 * in the same form by include/softmetal/entry.h and texture.h. */
#ifndef TESTS_SOFTMETAL_ABI_H
#define TESTS_SOFTMETAL_ABI_H

#include <stddef.h>
#include <stdint.h>

/* Rows of the table of builtins that an entry point gets; each has four components. */
enum {
  SM_THREAD_POSITION_IN_GRID,
  SM_THREAD_POSITION_IN_THREADGROUP,
  SM_THREADGROUP_POSITION_IN_GRID,
  SM_THREADS_PER_THREADGROUP,
  SM_THREADS_PER_GRID,
  SM_THREADGROUPS_PER_GRID,
  SM_DISPATCH_THREADS_PER_THREADGROUP,
  SM_GRID_ORIGIN,
  SM_THREAD_INDEX_IN_THREADGROUP,
  SM_THREAD_INDEX_IN_SIMDGROUP,
  SM_SIMDGROUP_INDEX_IN_THREADGROUP,
  SM_THREADS_PER_SIMDGROUP,
  SM_SIMDGROUPS_PER_THREADGROUP,
  SM_THREAD_INDEX_IN_QUADGROUP,
  SM_QUADGROUP_INDEX_IN_THREADGROUP,
  SM_QUADGROUPS_PER_THREADGROUP,
  SM_BUILTIN_COUNT
};

/* A parameter or member; see __sm_description in entry.h. */
typedef struct {
  uint64_t size, alignment;
  uint32_t space, writable, type, category, count;
  uint64_t offset;
} SmDescription;

/* A variable in threadgroup memory; a module lists those of its kernels, some of them twice. `id`
 * is its place among the tokens of the program. */
typedef struct {
  uint64_t id, size, alignment;
} SmThreadgroupVariable;

typedef struct {
  int32_t x, y, z;
  uint32_t slice, face, lod, sample;
} SmTexelAt;
typedef struct {
  float x, y, z;
  uint32_t slice;
  float lod; /* below -1e30: no level is given */
  int32_t offset_x, offset_y, offset_z;
  uint32_t compares; /* whether texels are 0 or 1, by the sampler's comparison with the reference */
  float reference;
} SmSampleAt;

typedef void SmEntry(const uint64_t* values, const uint32_t (*builtins)[4]);

/* The calls that programs make. A program's table is set when it is loaded. `site` identifies the
 * call. */
typedef struct {
  void (*access)(const void* address, size_t size, int writes, int aligned);
  void (*copy)(void* to, const void* from, size_t size);
  void (*fill)(void* to, size_t size);
  void (*barrier)(uint32_t flags, const void* site, const void* frame);
  void (*simdgroup_barrier)(uint32_t flags, const void* site, const void* frame);
  const void* (*gather)(const void* value, uint32_t size, uint32_t quad, const void* site,
                        const void* frame);
  uint32_t (*lane)(uint32_t quad);
  uint32_t (*lane_count)(uint32_t quad);
  void (*bad_lane)(uint32_t lane, uint32_t quad);
  void (*atomic)(const volatile void* object, uint32_t size, uint32_t writes);
  void (*fence)(uint32_t flags);
  void* (*threadgroup_variable)(uint32_t id, uint64_t size, uint64_t alignment);
  void (*texture_read)(uint64_t texture, uint32_t type, const SmTexelAt* at, uint32_t* texel);
  void (*texture_write)(uint64_t texture, uint32_t type, const SmTexelAt* at,
                        const uint32_t* texel);
  void (*texture_sample)(uint64_t texture, uint32_t type, uint64_t sampler, const SmSampleAt* at,
                         uint32_t* texel);
  void (*texture_gather)(uint64_t texture, uint32_t type, uint64_t sampler, const SmSampleAt* at,
                         uint32_t component, uint32_t* texels);
  uint32_t (*texture_atomic)(uint64_t texture, uint32_t type, const SmTexelAt* at,
                             uint64_t operation, uint32_t operand);
  uint32_t (*texture_size)(uint64_t texture, uint32_t type, uint32_t what, uint32_t lod);
} SmCalls;

#endif
