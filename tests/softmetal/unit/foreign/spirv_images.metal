#include <metal_stdlib>
#include <simd/simd.h>

using namespace metal;

constant uint arraySize_tmp [[function_constant(0)]];
constant uint arraySize = is_function_constant_defined(arraySize_tmp) ? arraySize_tmp : 2u;

kernel void main0(texture2d<float> uSource [[texture(0)]], texture2d<float, access::write> uTarget [[texture(1)]], sampler uSourceSmplr [[sampler(0)]], uint3 gl_GlobalInvocationID [[thread_position_in_grid]])
{
    int2 _17 = int2(gl_GlobalInvocationID.xy);
    float2 _25 = (float2(_17) + float2(0.5)) / float2(int2(uSource.get_width(), uSource.get_height()));
    float4 _31 = float4(0.0);
    for (uint i = 0u; i < arraySize; i++)
    {
        _31 += uSource.sample(uSourceSmplr, _25, level(0.0));
    }
    uTarget.write((_31 + uSource.read(uint2(_17), 0)), uint2(_17));
}
