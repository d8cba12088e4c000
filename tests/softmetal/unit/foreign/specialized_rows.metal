#include <metal_stdlib>
using namespace metal;
#define MIN(x, y) ((x) < (y) ? (x) : (y))
#define FC_ROWS 600
#define FOR_UNROLL _Pragma("clang loop unroll(full)") for
enum { ARG_ROWS, ARG_SRC = ARG_ROWS + 1, ARG_DST, };
constexpr constant int ARG_COUNT = 1 << 2;
typedef struct {
    int32_t  ne0;
    uint64_t nb1;
} args_rows;

constant short FC_rows_nq [[function_constant(FC_ROWS + 0)]];
constant bool  FC_rows_neg[[function_constant(FC_ROWS + 1)]];

template<typename T, short NQ>
void rows_impl(constant args_rows & args, device const char * src, device char * dst, device atomic_int * count, uint3 tg) {
    device const T * x = (device const T *) (src + tg.x*args.nb1);
    device T * y = (device T *) (dst + tg.x*args.nb1);
    T sums[NQ] = { [0 ... NQ - 1] = 0 };
#pragma unroll (MIN(NQ, 2*NQ))
    for (short q = 0; q < NQ; ++q) {
        for (int i = q; i < args.ne0; i += NQ) {
            sums[q] += x[i];
        }
    }
    FOR_UNROLL (short q = 0; q < NQ; ++q) {
        y[q] = FC_rows_neg ? -sums[q] : sums[q];
        atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
    }
}

kernel void kernel_rows(
        constant args_rows & args  [[buffer(ARG_ROWS)]],
        device const char  * src   [[buffer(ARG_SRC)]],
        device       char  * dst   [[buffer(ARG_DST)]],
        device atomic_int  * count [[buffer(ARG_COUNT)]],
        uint3 tg [[threadgroup_position_in_grid]]) {
    switch (FC_rows_nq) {
        case 2: rows_impl<float, 2>(args, src, dst, count, tg); break;
        default: rows_impl<float, 4>(args, src, dst, count, tg); break;
    }
}
