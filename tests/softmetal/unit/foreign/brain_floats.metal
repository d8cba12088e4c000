// Functions of a type of one's own beside the library's, in its namespaces.
#include <metal_stdlib>
#define instantiate_functions(itype, mode)                                            \
  METAL_FUNC itype max(itype x, itype y) {                                            \
    return static_cast<itype>(__metal_fmax(static_cast<float>(x), static_cast<float>(y), mode)); \
  }
namespace metal {
instantiate_functions(bfloat, __METAL_MAYBE_FAST_MATH__);
namespace fast {
instantiate_functions(bfloat, __METAL_FAST_MATH__);
}
namespace precise {
instantiate_functions(bfloat, __METAL_PRECISE_MATH__);
}
}
using namespace metal;
template <typename T>
struct ranked {
  T value;
  uint place;
  constexpr ranked<T>() = default;
  constexpr ranked<T>() threadgroup = default;
  constexpr ranked<T>(T v, uint p) : value(v), place(p) {}
};
template <typename T>
struct _numeric_limits_impl<ranked<T>> {
  static constexpr METAL_FUNC ranked<T> lowest() { return ranked<T>{numeric_limits<T>::lowest(), 0}; }
};
template <typename T, typename U>
inline T widened(const thread U&, float scale) { return T(scale); }
template <>
inline float widened<float, uchar>(const thread uchar& x, float scale) { return float(x) * scale; }
struct Loader {
  static METAL_FUNC float load(const device float* from, const thread short& at, thread const int& step) {
    return from[at * step];
  }
};
template <typename T, typename U, int BLOCK = 8, int WARPS = BLOCK / 4>
[[kernel, max_total_threads_per_threadgroup(BLOCK * WARPS)]] void largest(
    const device T* in [[buffer(0)]],
    device U* out [[buffer(1)]],
    const device float* steps [[buffer(2)]],
    constant int& size [[buffer(3)]]) {
  ranked<U> best = numeric_limits<ranked<U>>::lowest();
  for (int i = 0; i < size; i++) {
    U x = static_cast<U>(in[i]);
    if (x == metal::max(x, best.value)) best = ranked<U>{x, uint(i)};
  }
  out[0] = best.value;
  out[1] = static_cast<U>(widened<float>(uchar(Loader::load(steps, size - 1, 2)), 1.0f));
  out[2] = sign(best.value) * static_cast<U>(vec_elements<vec<T, 3>>::value);
}
template [[host_name("largest_half_bfloat")]] [[kernel]] void largest<half, bfloat>(
    const device half*, device bfloat*, const device float*, constant int&);
template [[host_name("largest_bfloat_half")]] [[kernel]] decltype(largest<bfloat, half, 16>) largest<bfloat, half, 16>;
