#include <metal_stdlib>
using namespace metal;

template<typename T, size_t N>
struct tint_array {
  const constant T& operator[](size_t i) const constant { return elements[i]; }
  device T& operator[](size_t i) device { return elements[i]; }
  const device T& operator[](size_t i) const device { return elements[i]; }
  thread T& operator[](size_t i) thread { return elements[i]; }
  const thread T& operator[](size_t i) const thread { return elements[i]; }
  threadgroup T& operator[](size_t i) threadgroup { return elements[i]; }
  const threadgroup T& operator[](size_t i) const threadgroup { return elements[i]; }
  T elements[N];
};

struct tint_module_vars_struct {
  const constant uint4* dims;
  const device tint_array<float, 1>* a;
  device tint_array<float, 1>* out;
  threadgroup tint_array<tint_array<float, 2>, 2>* tile;
};

struct tint_symbol_1 {
  tint_array<tint_array<float, 2>, 2> tint_symbol;
};

int tint_f32_to_i32(float value) {
  return select(2147483647, select((-2147483647 - 1), int(value), (value >= -2147483648.0f)), (value <= 2147483520.0f));
}

void transpose_inner(uint2 lid, uint tint_local_index, tint_module_vars_struct tint_module_vars) {
  (*tint_module_vars.tile)[lid.y][lid.x] = 0.0f;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  (*tint_module_vars.tile)[lid.y][lid.x] = (*tint_module_vars.a)[((lid.y * (*tint_module_vars.dims).x) + lid.x)];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  tint_array<float, 2> row = tint_array<float, 2>{};
  row[0] = (*tint_module_vars.tile)[lid.x][lid.y];
  (*tint_module_vars.out)[tint_local_index] = (row[min(0u, 1u)] + float(tint_f32_to_i32(1e10f) == 2147483647));
}

[[max_total_threads_per_threadgroup(4)]]
kernel void transpose_main(uint2 lid [[thread_position_in_threadgroup]], uint tint_local_index [[thread_index_in_threadgroup]], const constant uint4* dims [[buffer(0)]], const device tint_array<float, 1>* a [[buffer(1)]], device tint_array<float, 1>* out [[buffer(2)]], threadgroup tint_symbol_1* v [[threadgroup(0)]]) {
  tint_module_vars_struct const tint_module_vars = tint_module_vars_struct{.dims=dims, .a=a, .out=out, .tile=(&(*v).tint_symbol)};
  transpose_inner(lid, tint_local_index, tint_module_vars);
}
