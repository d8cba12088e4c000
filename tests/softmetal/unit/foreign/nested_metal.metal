// A namespace that is called metal as well, functions as arguments, halves that are added atomically.
#include <metal_stdlib>

namespace lib {
namespace metal {

namespace detail {
template <typename T>
struct Wide {
  using type = T;
};
template <>
struct Wide<half> {
  using type = float;
};
} // namespace detail
template <typename T>
using wide_t = typename detail::Wide<T>::type;

template <typename T>
::metal::enable_if_t<::metal::is_floating_point_v<T>, T> max(T a, T b) {
  return ::metal::isunordered(a, b) ? NAN : ::metal::max(a, b);
}
template <>
inline bfloat max(bfloat a, bfloat b) {
  return bfloat(::metal::isunordered(a, b) ? NAN : ::metal::max(float(a), float(b)));
}

template <typename T>
struct Updates {};
template <>
struct Updates<float> {
  using type = ::metal::atomic<float>;
  static inline void apply(device type* data, long offset, float value, float (*op)(float, float)) {
    auto ptr = data + offset;
    auto old = ::metal::atomic_load_explicit(ptr, ::metal::memory_order_relaxed);
    float changed;
    do {
      changed = op(old, value);
    } while (!::metal::atomic_compare_exchange_weak_explicit(
        ptr, &old, changed, ::metal::memory_order_relaxed, ::metal::memory_order_relaxed));
  }
};
template <>
struct Updates<half> {
  using type = ::metal::atomic<uint>;
  static inline void apply(device type* data, long offset, half value, half (*op)(half, half)) {
    constexpr auto per_word = sizeof(uint) / sizeof(half);
    auto ptr = data + offset / per_word;
    auto old = ::metal::atomic_load_explicit(ptr, ::metal::memory_order_relaxed);
    union {
      uint word;
      half parts[per_word];
    } both;
    do {
      both.word = old;
      both.parts[offset % per_word] = op(both.parts[offset % per_word], value);
    } while (!::metal::atomic_compare_exchange_weak_explicit(
        ptr, &old, both.word, ::metal::memory_order_relaxed, ::metal::memory_order_relaxed));
  }
};

} // namespace metal
} // namespace lib

using namespace metal;
using namespace lib::metal;

template <typename T>
T sum_of(T a, T b) {
  return a + b;
}

template <typename T>
kernel void gather_sums(
    constant T* in [[buffer(0)]],
    device typename Updates<T>::type* sums [[buffer(1)]],
    device wide_t<T>* largest [[buffer(2)]],
    constant long& size [[buffer(3)]],
    uint i [[thread_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]]) {
  T x = i < size ? in[i] : T(-1);
  Updates<T>::apply(sums, i & 1, x, sum_of<T>);
  largest[i] = static_cast<wide_t<T>>(lib::metal::max(x, T(0.5)));
}
#define REGISTER(T) \
  template [[host_name("gather_sums_" #T)]] kernel void gather_sums<T>( \
      constant T*, device Updates<T>::type*, device wide_t<T>*, constant long&, uint, uint);
REGISTER(float);
REGISTER(half);
