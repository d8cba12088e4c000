// Constants by their bits, computed when the program is compiled, and vectors of blocks.
#pragma clang diagnostic ignored "-Wunused-function"
#pragma METAL fp math_mode(safe)
#include <metal_stdlib>
using namespace metal;
namespace {
constexpr float from_bits_f32(unsigned int bits) { return as_type<float>(bits); }
constexpr float lowest_f32() { return from_bits_f32(0xff800000); }
constexpr half from_bits_f16(unsigned short bits) { return as_type<half>(bits); }
constexpr half largest_f16() { return from_bits_f16(31743); }
#define fence_of_both (mem_flags::mem_device | mem_flags::mem_threadgroup)
}
#define maybe_unused_value(x) (void)(x)

#define space_of_rows device
struct rows_args {
int _extent;
int _stride;
};
kernel void _kernel_largest(
 uint3 tgroup_index [[ threadgroup_position_in_grid ]],
 uint3 tid_in_tgroup [[ thread_position_in_threadgroup ]],
 const device rows_args *_scalars [[ buffer(0) ]],
 space_of_rows const float *_in [[ buffer(1) ]],
 device float *_out [[ buffer(2) ]],
 threadgroup int4* _part [[ threadgroup(0) ]])
{
int _extent = _scalars->_extent;
int _stride = _scalars->_stride;
 int _block = tgroup_index.x;
 int _thread = tid_in_tgroup.x;
 float _best[1];
 _best[0] = lowest_f32();
 for (int _i = 0; _i < 0 + _extent; _i++)
 {
  int _0 = _block * _stride + _thread * _extent;
  float _1 = _in[_0 + _i];
  _best[0] = max(_best[0], _1);
 }
 ((threadgroup float *)_part)[_thread] = _best[0];
 threadgroup_barrier(fence_of_both);
 int _2 = 0;
 maybe_unused_value(_2);
 if (_thread < 1)
 {
  float4 _3 = *((threadgroup float4*)(((threadgroup float *)_part) + 0));
  float _4 = max(max(_3.x, _3.y), max(_3.z, _3.w));
  _out[_block] = min(_4, (float)(largest_f16()));
 }
}
#undef space_of_rows
