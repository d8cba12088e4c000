#pragma clang diagnostic ignored "-Wmissing-prototypes"
#pragma clang diagnostic ignored "-Wmissing-braces"

#include <metal_stdlib>
#include <simd/simd.h>

using namespace metal;

template<typename T, size_t Count>
struct spvFixedArray
{
    T items[Count ? Count : 1];

    thread T& operator [] (size_t i) thread { return items[i]; }
    constexpr const thread T& operator [] (size_t i) const thread { return items[i]; }
    device T& operator [] (size_t i) device { return items[i]; }
    constexpr const device T& operator [] (size_t i) const device { return items[i]; }
    constexpr const constant T& operator [] (size_t i) const constant { return items[i]; }
    threadgroup T& operator [] (size_t i) threadgroup { return items[i]; }
    constexpr const threadgroup T& operator [] (size_t i) const threadgroup { return items[i]; }
};

struct Block { spvFixedArray<float4, 2> rows; };
struct Scales { spvFixedArray<float, 4> s; };

constant uint3 gl_WorkGroupSize [[maybe_unused]] = uint3(4u, 1u, 1u);
constant spvFixedArray<float, 4> _24 = spvFixedArray<float, 4>({ 1.0, 10.0, 100.0, 1000.0 });

static inline __attribute__((always_inline))
float weigh(thread const spvFixedArray<float, 4>& a, thread const uint& i, constant Scales& scales)
{
    return (a[i] * scales.s[i]) * _24[i];
}

kernel void main0(device Block& _31 [[buffer(0)]], constant Scales& _40 [[buffer(1)]], uint3 gl_LocalInvocationID [[thread_position_in_threadgroup]], uint gl_LocalInvocationIndex [[thread_index_in_threadgroup]])
{
    threadgroup spvFixedArray<float, 4> shared_values;
    spvFixedArray<float, 4> _local = spvFixedArray<float, 4>({ 1.0, 2.0, 3.0, 4.0 });
    uint param = gl_LocalInvocationIndex;
    shared_values[gl_LocalInvocationIndex] = weigh(_local, param, _40);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float _67 = shared_values[3u - gl_LocalInvocationID.x];
    _31.rows[gl_LocalInvocationIndex >> 1u][gl_LocalInvocationIndex & 1u] = _67;
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    if (gl_LocalInvocationIndex == 0u)
    {
        _31.rows[1].zw = _31.rows[0].yx;
    }
}
