#pragma clang diagnostic ignored "-Wunused-variable"

#include <metal_stdlib>
#include <simd/simd.h>
#include <metal_atomic>

using namespace metal;

struct Counters
{
    uint total;
    int least;
    uint bits[2];
};

kernel void main0(device Counters& _9 [[buffer(0)]], uint gl_LocalInvocationIndex [[thread_index_in_threadgroup]])
{
    threadgroup uint local_sum;
    if (gl_LocalInvocationIndex == 0u)
    {
        atomic_store_explicit((threadgroup atomic_uint*)&local_sum, 0u, memory_order_relaxed);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint _20 = atomic_fetch_add_explicit((threadgroup atomic_uint*)&local_sum, gl_LocalInvocationIndex, memory_order_relaxed);
    uint _24 = atomic_fetch_or_explicit((device atomic_uint*)&_9.bits[gl_LocalInvocationIndex & 1u], 1u << gl_LocalInvocationIndex, memory_order_relaxed);
    int _28 = atomic_fetch_min_explicit((device atomic_int*)&_9.least, int(5u - gl_LocalInvocationIndex), memory_order_relaxed);
    uint _33;
    do
    {
        _33 = 100u;
    } while (!atomic_compare_exchange_weak_explicit((device atomic_uint*)&_9.total, &_33, 100u, memory_order_relaxed, memory_order_relaxed) && _33 == 100u);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (gl_LocalInvocationIndex == 0u)
    {
        atomic_store_explicit((device atomic_uint*)&_9.total, atomic_load_explicit((threadgroup atomic_uint*)&local_sum, memory_order_relaxed), memory_order_relaxed);
    }
}
