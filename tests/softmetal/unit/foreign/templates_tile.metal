#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

template <typename T, int Rows, int Columns>
struct Tile {
  static constexpr constant short kElements = Rows * Columns;
  const short lane;
  simdgroup_matrix<T, 8, 8> parts[Rows * Columns];

  METAL_FUNC Tile(ushort lane_id) : lane(lane_id) {
    for (short i = 0; i < kElements; ++i) {
      parts[i] = simdgroup_matrix<T, 8, 8>(0);
    }
  }
  METAL_FUNC void multiply(const device T* a, const device T* b) {
    simdgroup_matrix<T, 8, 8> x, y;
    simdgroup_load(x, a, 8);
    simdgroup_load(y, b, 8, 0, true);
    for (short i = 0; i < kElements; ++i) {
      simdgroup_multiply_accumulate(parts[i], x, y, parts[i]);
    }
  }
  METAL_FUNC void store(device T* out) const {
    for (short i = 0; i < kElements; ++i) {
      simdgroup_store(parts[i], out + i * 64, 8);
    }
  }
};

template <typename T>
kernel void tile_kernel(const device T* a [[buffer(0)]], const device T* b [[buffer(1)]], device T* out [[buffer(2)]],
                        ushort lane [[thread_index_in_simdgroup]]) {
  Tile<T, 1, 1> tile(lane);
  tile.multiply(a, b);
  simdgroup_barrier(mem_flags::mem_none);
  tile.store(out);
}
typedef decltype(tile_kernel<float>) tile_kernel_t;
template [[host_name("tile_f32")]] kernel tile_kernel_t tile_kernel<float>;
