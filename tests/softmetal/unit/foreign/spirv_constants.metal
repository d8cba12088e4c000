#include <metal_stdlib>
#include <simd/simd.h>
using namespace metal;

struct Light
{
    float4 color;
    float3x3 turn;
};

constant float3x3 _24 = float3x3(float3(1.0, 2.0, 3.0), float3(4.0, 5.0, 6.0), float3(7.0, 8.0, 9.0));
constant float2x2 _25 = {{1.0, 2.0}, {3.0, 4.0}};
constant Light _31[2] = {{float4(1.0), float3x3(1.0)}, {float4(float2(2.0), 3.0, 4.0), float3x3(2.0)}};
constant float _35 = rsqrt(16.0);
constant uint3 gl_WorkGroupSize [[maybe_unused]] = uint3(8u, 4u, 1u);

kernel void main0(device float* out [[buffer(0)]])
{
    out[0] = _24[1][2];
    out[1] = (_24 * float3(1.0, 0.0, 0.0)).z;
    out[2] = _25[1].x;
    out[3] = _31[1].color.w;
    out[4] = _31[1].turn[2][2];
    out[5] = _35;
    out[6] = float(gl_WorkGroupSize.y);
}
