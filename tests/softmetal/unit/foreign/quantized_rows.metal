#include <metal_stdlib>
using namespace metal;

#define BLOCK 8
#define LEAST(x, y) ((x) < (y) ? (x) : (y))

typedef struct {
    half    scale;
    uint8_t pairs[BLOCK / 2];
} block_4bit;
static_assert(sizeof(block_4bit) == sizeof(half) + BLOCK / 2, "wrong size of a block");

typedef struct {
    int32_t  columns;
    uint64_t row_bytes;
} row_args;

template <typename vec4>
void unpack_4bit(device const block_4bit * from, short part, thread vec4 & to) {
    device const uint8_t * bytes = from->pairs + 2 * part;
    const float d = from->scale;
    for (int i = 0; i < 2; ++i) {
        to[2 * i + 0] = d * ((bytes[i] & 0x0F) - 8);
        to[2 * i + 1] = d * ((bytes[i] >>   4) - 8);
    }
}

template<typename block_q, short parts, void (*unpack)(device const block_q *, short, thread float4 &)>
kernel void kernel_rows(
        constant row_args   & args,
        device const   char * src,
        device         char * dst,
        uint3   tgpig[[threadgroup_position_in_grid]],
        ushort  tiitg[[thread_index_in_threadgroup]],
        ushort3 ntg  [[threads_per_threadgroup]]) {
    device const block_q * row = (device const block_q *) (src + tgpig.x * args.row_bytes);
    for (int i = tiitg; i < LEAST(args.columns / 4, 1024); i += ntg.x) {
        float4 v;
        unpack(row + i / parts, i % parts, v);
        *((device float4 *) dst + tgpig.x * (args.columns / 4) + i) = v;
    }
}

typedef decltype(kernel_rows<block_4bit, 2, unpack_4bit>) kernel_rows_t;
template [[host_name("kernel_rows_4bit")]] kernel kernel_rows_t kernel_rows<block_4bit, 2, unpack_4bit>;
