#include <metal_stdlib>
#include <simd/simd.h>

using namespace metal;

struct Transforms
{
    float4x4 world;
    float3x3 normal;
    float2x4 pair;
};

// Inverse by the adjugate.
static inline __attribute__((always_inline))
float2x2 spvInverse2x2(float2x2 m)
{
    float2x2 adj;
    adj[0][0] =  m[1][1];
    adj[0][1] = -m[0][1];
    adj[1][0] = -m[1][0];
    adj[1][1] =  m[0][0];
    float det = (adj[0][0] * m[0][0]) + (adj[0][1] * m[1][0]);
    return (det != 0.0f) ? (adj * (1.0f / det)) : m;
}

kernel void main0(constant Transforms& _18 [[buffer(0)]], device float4* _out [[buffer(1)]])
{
    float4 v = _18.world * float4(1.0, 2.0, 3.0, 1.0);
    float3 n = float3(1.0, 0.0, 2.0) * _18.normal;
    float2x2 i = spvInverse2x2(float2x2(float2(2.0, 0.0), float2(0.0, 4.0)));
    _out[0] = v;
    _out[1] = float4(n, i[1].y);
    _out[2] = _18.pair[1] + transpose(_18.world)[0];
}
