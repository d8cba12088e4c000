// <metal_compute>, <metal_simdgroup>, <metal_quadgroup>: barriers, and functions of simdgroups.
//
// All threads of a simdgroup must make the same call: each passes a value and gets the values of
// all. The runtime identifies calls by their return addresses, so the optimizer must not duplicate
// or merge calls.
#pragma once

#include "atomic.h"

extern "C" {
void __sm_barrier(uint flags) __attribute__((noduplicate, nomerge, convergent));
void __sm_simdgroup_barrier(uint flags) __attribute__((noduplicate, nomerge, convergent));
// Returns the values of all threads of the simdgroup (or quadgroup), with a stride of `size` bytes.
const __generic void* __sm_gather(const __generic void* value, uint size, uint quad)
    __attribute__((noduplicate, nomerge, convergent));
uint __sm_lane(uint quad);        // the index of the calling thread in its group
uint __sm_lane_count(uint quad);  // the number of threads in the group
uint __sm_simd_width(void);
void __sm_bad_lane(uint lane, uint quad);  // reports a shuffle from a missing thread
}

namespace metal {

enum class mem_flags : uint {
  mem_none = 0,
  mem_device = 1,
  mem_threadgroup = 2,
  mem_texture = 4,
  mem_threadgroup_imageblock = 8,
  mem_object_data = 16,
  mem_device_and_threadgroup = 3
};
constexpr mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(uint(a) | uint(b)); }
constexpr mem_flags operator&(mem_flags a, mem_flags b) { return mem_flags(uint(a) & uint(b)); }
enum thread_scope {
  thread_scope_thread,
  thread_scope_simdgroup,
  thread_scope_threadgroup,
  thread_scope_device
};

#define SM_INLINE inline __attribute__((always_inline))
SM_INLINE void threadgroup_barrier(mem_flags flags) { __sm_barrier(uint(flags)); }
SM_INLINE void simdgroup_barrier(mem_flags flags) { __sm_simdgroup_barrier(uint(flags)); }
SM_INLINE void atomic_thread_fence(mem_flags flags, memory_order,
                                   thread_scope = thread_scope_device) {
  __sm_fence(uint(flags));
}

// The values that all threads of a simdgroup (or quadgroup) pass to the same call.
template <class T>
struct __sm_all {
  const __generic T* values;
  uint lane, count;
  SM_INLINE __sm_all(T x, uint quad) {
    T mine = x;
    values = (const __generic T*)__sm_gather(&mine, sizeof(T), quad);
    lane = __sm_lane(quad), count = __sm_lane_count(quad);
  }
  T at(uint i, uint quad) const {
    if (i < count) return values[i];
    __sm_bad_lane(i, quad);
    return values[lane];
  }
};

struct simd_vote {
  typedef ulong vote_t;
  vote_t __bits;
  uint __lanes;
  simd_vote() = default;
  explicit constexpr simd_vote(vote_t bits) : __bits(bits), __lanes(64) {}
  constexpr explicit operator vote_t() const { return __bits; }
  bool all() const { return __bits == (__lanes >= 64 ? ~0ul : (1ul << __lanes) - 1); }
  bool any() const { return __bits != 0; }
};
struct quad_vote {
  typedef uint vote_t;
  vote_t __bits;
  uint __lanes;
  quad_vote() = default;
  explicit constexpr quad_vote(vote_t bits) : __bits(bits), __lanes(4) {}
  constexpr explicit operator vote_t() const { return __bits; }
  bool all() const { return __bits == (1u << __lanes) - 1; }
  bool any() const { return __bits != 0; }
};

// Reductions run in the order of lanes, by component.
#define SM_REDUCTION(GROUP, QUAD, NAME)                                             \
  template <class T>                                                                \
  SM_INLINE T GROUP##_##NAME(T x) {                                                 \
    __sm_all<T> all(x, QUAD);                                                       \
    T r = all.values[0];                                                            \
    for (uint i = 1; i < all.count; ++i) r = __sm_combine_##NAME(r, all.values[i]); \
    return r;                                                                       \
  }
#define SM_COMBINE(NAME, EXPRESSION)       \
  template <class T>                       \
  inline T __sm_combine_##NAME(T a, T b) { \
    return static_cast<T>(EXPRESSION);     \
  }
SM_COMBINE(sum, a + b)
SM_COMBINE(product, a* b)
SM_COMBINE(min, min(a, b))
SM_COMBINE(max, max(a, b))
SM_COMBINE(and, a& b)
SM_COMBINE(or, a | b)
SM_COMBINE(xor, a ^ b)
#undef SM_COMBINE
#define SM_PREFIX(GROUP, QUAD, NAME, NEUTRAL)                                       \
  template <class T>                                                                \
  SM_INLINE T GROUP##_prefix_inclusive_##NAME(T x) {                                \
    __sm_all<T> all(x, QUAD);                                                       \
    T r = all.values[0];                                                            \
    for (uint i = 1; i <= all.lane; ++i) r = __sm_combine_##NAME(r, all.values[i]); \
    return r;                                                                       \
  }                                                                                 \
  template <class T>                                                                \
  SM_INLINE T GROUP##_prefix_exclusive_##NAME(T x) {                                \
    __sm_all<T> all(x, QUAD);                                                       \
    T r = T(NEUTRAL);                                                               \
    for (uint i = 0; i < all.lane; ++i) r = __sm_combine_##NAME(r, all.values[i]);  \
    return r;                                                                       \
  }
#define SM_GROUP(GROUP, QUAD, VOTE)                                                               \
  SM_REDUCTION(GROUP, QUAD, sum)                                                                  \
  SM_REDUCTION(GROUP, QUAD, product)                                                              \
  SM_REDUCTION(GROUP, QUAD, min)                                                                  \
  SM_REDUCTION(GROUP, QUAD, max)                                                                  \
  SM_REDUCTION(GROUP, QUAD, and)                                                                  \
  SM_REDUCTION(GROUP, QUAD, or)                                                                   \
  SM_REDUCTION(GROUP, QUAD, xor)                                                                  \
  SM_PREFIX(GROUP, QUAD, sum, 0)                                                                  \
  SM_PREFIX(GROUP, QUAD, product, 1)                                                              \
  template <class T>                                                                              \
  SM_INLINE T GROUP##_shuffle(T x, ushort lane) {                                                 \
    return __sm_all<T>(x, QUAD).at(lane, QUAD);                                                   \
  }                                                                                               \
  template <class T>                                                                              \
  SM_INLINE T GROUP##_broadcast(T x, ushort lane) {                                               \
    return __sm_all<T>(x, QUAD).at(lane, QUAD);                                                   \
  }                                                                                               \
  template <class T>                                                                              \
  SM_INLINE T GROUP##_broadcast_first(T x) {                                                      \
    return __sm_all<T>(x, QUAD).values[0];                                                        \
  }                                                                                               \
  template <class T>                                                                              \
  SM_INLINE T GROUP##_shuffle_xor(T x, ushort mask) {                                             \
    __sm_all<T> all(x, QUAD);                                                                     \
    return all.at(all.lane ^ mask, QUAD);                                                         \
  }                                                                                               \
  /* Shuffles up and down do not wrap: threads without a source keep their value. */              \
  template <class T>                                                                              \
  SM_INLINE T GROUP##_shuffle_up(T x, ushort delta) {                                             \
    __sm_all<T> all(x, QUAD);                                                                     \
    return all.values[all.lane < delta ? all.lane : all.lane - delta];                            \
  }                                                                                               \
  template <class T>                                                                              \
  SM_INLINE T GROUP##_shuffle_down(T x, ushort delta) {                                           \
    __sm_all<T> all(x, QUAD);                                                                     \
    return all.values[all.lane + delta < all.count ? all.lane + delta : all.lane];                \
  }                                                                                               \
  template <class T>                                                                              \
  SM_INLINE T GROUP##_shuffle_rotate_up(T x, ushort delta) {                                      \
    __sm_all<T> all(x, QUAD);                                                                     \
    return all.values[(all.lane + all.count - delta % all.count) % all.count];                    \
  }                                                                                               \
  template <class T>                                                                              \
  SM_INLINE T GROUP##_shuffle_rotate_down(T x, ushort delta) {                                    \
    __sm_all<T> all(x, QUAD);                                                                     \
    return all.values[(all.lane + delta) % all.count];                                            \
  }                                                                                               \
  /* The threads without a source take theirs from the data that fills, in groups of `modulo`. */ \
  template <class T>                                                                              \
  SM_INLINE T GROUP##_shuffle_and_fill_up(T x, T fill, ushort delta, ushort modulo) {             \
    __sm_all<T> all(x, QUAD);                                                                     \
    __sm_all<T> fills(fill, QUAD);                                                                \
    const uint start = all.lane - all.lane % modulo, in = all.lane % modulo;                      \
    if (in < delta) return fills.at(start + in + modulo - delta, QUAD);                           \
    return all.at(all.lane - delta, QUAD);                                                        \
  }                                                                                               \
  template <class T>                                                                              \
  SM_INLINE T GROUP##_shuffle_and_fill_up(T x, T fill, ushort delta) {                            \
    return GROUP##_shuffle_and_fill_up(x, fill, delta, (ushort)__sm_lane_count(QUAD));            \
  }                                                                                               \
  template <class T>                                                                              \
  SM_INLINE T GROUP##_shuffle_and_fill_down(T x, T fill, ushort delta, ushort modulo) {           \
    __sm_all<T> all(x, QUAD);                                                                     \
    __sm_all<T> fills(fill, QUAD);                                                                \
    const uint start = all.lane - all.lane % modulo, in = all.lane % modulo;                      \
    if (in + delta >= modulo) return fills.at(start + in + delta - modulo, QUAD);                 \
    return all.at(all.lane + delta, QUAD);                                                        \
  }                                                                                               \
  template <class T>                                                                              \
  SM_INLINE T GROUP##_shuffle_and_fill_down(T x, T fill, ushort delta) {                          \
    return GROUP##_shuffle_and_fill_down(x, fill, delta, (ushort)__sm_lane_count(QUAD));          \
  }                                                                                               \
  SM_INLINE VOTE GROUP##_ballot(bool x) {                                                         \
    __sm_all<uchar> all(x ? 1 : 0, QUAD);                                                         \
    VOTE vote(0);                                                                                 \
    for (uint i = 0; i < all.count; ++i) vote.__bits |= (VOTE::vote_t)all.values[i] << i;         \
    vote.__lanes = all.count;                                                                     \
    return vote;                                                                                  \
  }                                                                                               \
  SM_INLINE bool GROUP##_all(bool x) { return GROUP##_ballot(x).all(); }                          \
  SM_INLINE bool GROUP##_any(bool x) { return GROUP##_ballot(x).any(); }                          \
  SM_INLINE VOTE GROUP##_active_threads_mask() { return GROUP##_ballot(true); }                   \
  SM_INLINE bool GROUP##_is_first() {                                                             \
    __sm_all<uchar> all(1, QUAD);                                                                 \
    return all.lane == 0;                                                                         \
  }                                                                                               \
  SM_INLINE bool GROUP##_is_helper_thread() { return false; }
SM_GROUP(simd, 0, simd_vote)
SM_GROUP(quad, 1, quad_vote)
#undef SM_GROUP
#undef SM_PREFIX
#undef SM_REDUCTION

// A value that is equal in all threads.
template <class T>
struct uniform {
  T __value;
  uniform() = default;
  constexpr uniform(T x) : __value(x) {}
  constexpr operator T() const { return __value; }
};
template <class T>
constexpr uniform<T> make_uniform(T x) {
  return uniform<T>(x);
}

// Logs of shaders (since MSL 3.2) are discarded.
struct os_log {
  template <class... A>
  constexpr os_log(A...) {}
  template <class... A>
  void log(A...) const {}
  template <class... A>
  void log_debug(A...) const {}
  template <class... A>
  void log_info(A...) const {}
  template <class... A>
  void log_error(A...) const {}
  template <class... A>
  void log_fault(A...) const {}
};
constexpr __global const os_log os_log_default("", "");

}  // namespace metal
