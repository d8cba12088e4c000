// Two functions of one source, as custom operators have: a kernel, and one that writes the arguments of the
// dispatch of the other.
#include <metal_stdlib>
using namespace metal;

struct DispatchArguments {
  uint3 groups;
};

[[host_name("softshrink")]] kernel void softshrink_impl(device const float* x [[buffer(0)]],
                                                        device float* y [[buffer(1)]],
                                                        constant float& lambda [[buffer(2)]],
                                                        uint i [[thread_position_in_grid]]) {
  const float v = x[i];
  y[i] = v > lambda ? v - lambda : (v < -lambda ? v + lambda : 0.0);
}

[[host_name("softshrink_commit")]] kernel void commit_impl(device const atomic_uint* changed [[buffer(0)]],
                                                           device packed_uint3* groups [[buffer(1)]],
                                                           constant uint& limit [[buffer(2)]]) {
  const uint n = atomic_load_explicit(changed, memory_order_relaxed);
  groups[0] = n > limit ? packed_uint3(n, 1, 1) : packed_uint3(0, 0, 0);
}
