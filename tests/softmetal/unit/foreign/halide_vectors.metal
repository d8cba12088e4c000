#include <metal_stdlib>
using namespace metal; // Seems to be necessary
namespace {
inline float float_from_bits(unsigned int x) {return as_type<float>(x);}
}
kernel void _kernel_convert(
 uint3 tgid_index [[ threadgroup_position_in_grid ]],
 uint3 tid_index [[ thread_position_in_threadgroup ]],
 device const uint8_t *_in [[ buffer(0) ]],
 device float *_out [[ buffer(1) ]],
 device half *_small [[ buffer(2) ]])
{
 int _v0 = (int)(tid_index.x) * 4;
 uchar4 _b = uchar4(*(device packed_uchar4 *)(_in + _v0));
 float4 _f = float4(_b) * float4(0.500000f);
 int4 _ramp = int4(_v0) + int4(0, 1, 2, 3);
 bool4 _odd = (_ramp & int4(1)) != int4(0);
 float4 _s = select(_f, float4(float_from_bits(3212836864 /* -1 */)), _odd);
 *((device packed_float4 *)(_out + _v0)) = packed_float4(_s);
 half4 _h = half4(_s);
 *((device packed_half4 *)(_small + _v0)) = packed_half4(_h);
 short4 _w = short4(_b) << short4(1);
 _out[_v0] = _out[_v0] + (float)(_w.w) + (float)(_w[0] == (short)(0) ? 1 : 0);
}
