#pragma clang diagnostic ignored "-Wunused-function"
#include <metal_stdlib>
using namespace metal; // Seems to be necessary
namespace {
inline float float_from_bits(unsigned int x) {return as_type<float>(x);}
inline float nan_f32() { return NAN; }
inline bool is_nan_f32(float x) {return x != x; }
}
#define sqrt_f32 sqrt
#define abs_f32 fabs
#define max_f32 max

struct _kernel_blur_args {
 int32_t _in_extent;
 int32_t _stride;
 float _weight;
};
kernel void _kernel_blur(
 uint3 tgid_index [[ threadgroup_position_in_grid ]],
 uint3 tid_index [[ thread_position_in_threadgroup ]],
 constant _kernel_blur_args &__args [[ buffer(0) ]],
 device const float *_in [[ buffer(1) ]],
 device float *_out [[ buffer(2) ]],
 threadgroup int8_t *__shared [[ threadgroup(0) ]])
{
#define _in_extent __args._in_extent
#define _stride __args._stride
#define _weight __args._weight
 threadgroup float *_tile = (threadgroup float *)(__shared + 0);
 threadgroup uint8_t *_flags = (threadgroup uint8_t *)(__shared + 64);
 int32_t _block = (int32_t)(tgid_index.x);
 int32_t _x = (int32_t)(tid_index.x);
 int32_t _i = (_block * _stride) + _x;
 bool _inside = _i < _in_extent;
 _tile[_x] = _inside ? _in[_i] : 0.000000f;
 _flags[_x] = (uint8_t)(_inside);
 threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
 float _left = (_x > 0) ? _tile[max((_x - 1), 0)] : float_from_bits(0 /* 0 */);
 float _t0 = _left + _tile[_x];
 if (_flags[_x] != (uint8_t)(0)) {
  _out[_i] = _t0 * _weight;
 } // if
#undef _in_extent
#undef _stride
#undef _weight
}
