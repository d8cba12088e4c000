#include <metal_stdlib>
#include <simd/simd.h>
using namespace metal;

kernel void main0(device float* out [[buffer(0)]], depth2d<float> uShadow [[texture(0)]], texture3d<uint, access::read_write> uCells [[texture(1)]], texture2d<float> uColor [[texture(2)]])
{
    constexpr sampler smp(mag_filter::linear, min_filter::linear, compare_func::less_equal);
    constexpr sampler levels(filter::nearest, mip_filter::nearest);
    out[0] = uShadow.sample_compare(smp, float2(0.5), 2.5);
    out[1] = uShadow.sample_compare(smp, float2(0.25, 0.25), 1.0, level(0.0));
    float4 _20 = uShadow.gather_compare(smp, float2(0.5), 2.0);
    out[2] = _20.x + 2.0 * _20.y + 4.0 * _20.z + 8.0 * _20.w;
    out[3] = float(uCells.atomic_fetch_add(uint3(0u, 0u, 1u), 3u).x);
    out[4] = uColor.sample(levels, float2(0.5), gradient2d(float2(0.5, 0.0), float2(0.0, 0.25))).x;
    out[5] = uColor.sample(levels, float2(0.1), level(0.0)).x;
}
