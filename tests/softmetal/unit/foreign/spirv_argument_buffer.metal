#pragma clang diagnostic ignored "-Wunused-variable"

#include <metal_stdlib>
#include <simd/simd.h>

using namespace metal;

struct Input
{
    float values[1];
};

struct Output
{
    float2 values[1];
};

struct Push
{
    int count;
    packed_float3 offset;
};

struct spvDescriptorSetBuffer0
{
    const device Input* m_12 [[id(0)]];
    device Output* m_20 [[id(1)]];
    constant Push* m_25 [[id(2)]];
};

kernel void main0(const device spvDescriptorSetBuffer0& spvDescriptorSet0 [[buffer(0)]], uint3 gl_GlobalInvocationID [[thread_position_in_grid]])
{
    uint _30 = gl_GlobalInvocationID.x;
    if (int(_30) >= (*spvDescriptorSet0.m_25).count)
    {
        return;
    }
    float3 _41 = float3((*spvDescriptorSet0.m_25).offset);
    (*spvDescriptorSet0.m_20).values[_30] = float2((*spvDescriptorSet0.m_12).values[_30] + _41.x, dot(_41, float3(1.0)));
}
