// The calls of a program into the runtime, through a table; among them those with which the thread
// sanitizer's instrumentation reports accesses. Compiled into the object that every library links.
#include "tests/softmetal/abi.h"

#define HIDDEN __attribute__((visibility("hidden")))
#define SITE __builtin_return_address(0), __builtin_frame_address(0)

/* Constants of program scope may be computed when the module is loaded, before it has its table. */
static void ignore_access(const void* p, size_t n, int writes, int aligned) {
  (void)p, (void)n, (void)writes, (void)aligned;
}
static void ignore_copy(void* to, const void* from, size_t n) { (void)to, (void)from, (void)n; }
static void ignore_fill(void* to, size_t n) { (void)to, (void)n; }
static const SmCalls kWhileLoading = {
    .access = ignore_access, .copy = ignore_copy, .fill = ignore_fill};
__attribute__((visibility("default"))) const SmCalls* __sm_calls = &kWhileLoading;

/* The list of variables in threadgroup memory, whose ends the linker knows if there is one. */
HIDDEN extern const SmThreadgroupVariable __start_sm_threadgroup[] __attribute__((weak));
HIDDEN extern const SmThreadgroupVariable __stop_sm_threadgroup[] __attribute__((weak));
__attribute__((visibility("default"))) const SmThreadgroupVariable* const __sm_threadgroup_list[2] = {
    __start_sm_threadgroup, __stop_sm_threadgroup};

HIDDEN void __tsan_init(void) {}
#define ACCESS(N)                                                                     \
  HIDDEN void __tsan_read##N(void* p) { __sm_calls->access(p, N, 0, 1); }              \
  HIDDEN void __tsan_write##N(void* p) { __sm_calls->access(p, N, 1, 1); }             \
  HIDDEN void __tsan_read_write##N(void* p) { __sm_calls->access(p, N, 2, 1); }        \
  HIDDEN void __tsan_volatile_read##N(void* p) { __sm_calls->access(p, N, 0, 1); }     \
  HIDDEN void __tsan_volatile_write##N(void* p) { __sm_calls->access(p, N, 1, 1); }    \
  HIDDEN void __tsan_unaligned_read##N(void* p) { __sm_calls->access(p, N, 0, 0); }    \
  HIDDEN void __tsan_unaligned_write##N(void* p) { __sm_calls->access(p, N, 1, 0); }   \
  HIDDEN void __tsan_unaligned_read_write##N(void* p) { __sm_calls->access(p, N, 2, 0); } \
  HIDDEN void __tsan_unaligned_volatile_read##N(void* p) { __sm_calls->access(p, N, 0, 0); } \
  HIDDEN void __tsan_unaligned_volatile_write##N(void* p) { __sm_calls->access(p, N, 1, 0); }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
HIDDEN void __tsan_read_range(void* p, size_t n) { __sm_calls->access(p, n, 0, 0); }
HIDDEN void __tsan_write_range(void* p, size_t n) { __sm_calls->access(p, n, 1, 0); }
HIDDEN void __tsan_vptr_update(void** p, void* v) { (void)p, (void)v; }
HIDDEN void __tsan_vptr_read(void** p) { (void)p; }
HIDDEN void __tsan_func_entry(void* p) { (void)p; }
HIDDEN void __tsan_func_exit(void) {}
HIDDEN void* __tsan_memcpy(void* to, const void* from, size_t n) {
  __sm_calls->copy(to, from, n);
  return __builtin_memcpy(to, from, n);
}
HIDDEN void* __tsan_memmove(void* to, const void* from, size_t n) {
  __sm_calls->copy(to, from, n);
  return __builtin_memmove(to, from, n);
}
HIDDEN void* __tsan_memset(void* to, int value, size_t n) {
  __sm_calls->fill(to, n);
  return __builtin_memset(to, value, n);
}

HIDDEN void __sm_barrier(uint32_t flags) { __sm_calls->barrier(flags, SITE); }
HIDDEN void __sm_simdgroup_barrier(uint32_t flags) { __sm_calls->simdgroup_barrier(flags, SITE); }
HIDDEN const void* __sm_gather(const void* value, uint32_t size, uint32_t quad) {
  return __sm_calls->gather(value, size, quad, SITE);
}
HIDDEN uint32_t __sm_lane(uint32_t quad) { return __sm_calls->lane(quad); }
HIDDEN uint32_t __sm_lane_count(uint32_t quad) { return __sm_calls->lane_count(quad); }
HIDDEN void __sm_bad_lane(uint32_t lane, uint32_t quad) { __sm_calls->bad_lane(lane, quad); }
HIDDEN void __sm_atomic(const volatile void* object, uint32_t size, uint32_t writes) {
  __sm_calls->atomic(object, size, writes);
}
HIDDEN void __sm_fence(uint32_t flags) { __sm_calls->fence(flags); }
HIDDEN void* __sm_threadgroup_variable(uint32_t id, uint64_t size, uint64_t alignment) {
  return __sm_calls->threadgroup_variable(id, size, alignment);
}
HIDDEN void __sm_texture_read(uint64_t t, uint32_t type, const SmTexelAt* at, uint32_t* texel) {
  __sm_calls->texture_read(t, type, at, texel);
}
HIDDEN void __sm_texture_write(uint64_t t, uint32_t type, const SmTexelAt* at, const uint32_t* texel) {
  __sm_calls->texture_write(t, type, at, texel);
}
HIDDEN void __sm_texture_sample(uint64_t t, uint32_t type, uint64_t s, const SmSampleAt* at,
                                uint32_t* texel) {
  __sm_calls->texture_sample(t, type, s, at, texel);
}
HIDDEN void __sm_texture_gather(uint64_t t, uint32_t type, uint64_t s, const SmSampleAt* at,
                                uint32_t component, uint32_t* texels) {
  __sm_calls->texture_gather(t, type, s, at, component, texels);
}
HIDDEN uint32_t __sm_texture_atomic(uint64_t t, uint32_t type, const SmTexelAt* at, uint64_t operation,
                                    uint32_t operand) {
  return __sm_calls->texture_atomic(t, type, at, operation, operand);
}
HIDDEN uint32_t __sm_texture_size(uint64_t t, uint32_t type, uint32_t what, uint32_t lod) {
  return __sm_calls->texture_size(t, type, what, lod);
}
