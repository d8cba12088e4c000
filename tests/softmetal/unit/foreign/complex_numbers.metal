// In the style of MLX: numbers as a class, templates of kernels that share a name, and casts that
// also convert bfloat.
#include <metal_stdlib>
using namespace metal;

typedef bfloat brain;

struct complex {
  float re, im;
  complex(float r) : re(static_cast<float>(r)), im(0) {}
  complex(float r, float i) : re(r), im(i) {}
  complex operator*(complex o) const { return {re * o.re - im * o.im, re * o.im + im * o.re}; }
  thread complex& operator+=(thread const complex& o) {
    re += o.re;
    im += o.im;
    return *this;
  }
};
thread complex& operator-=(thread complex& a, thread const complex& b) {
  a.re -= b.re;
  a.im -= b.im;
  return a;
}

template <typename P>
void store(float x, P to) {
  using T = typename remove_pointer<P>::type;
  *to = static_cast<T>(x);
}

template <typename T, int N>
kernel void update(device const T* numbers [[buffer(0)]], device T* out [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  const T number = numbers[i];
  out[i] = number * T(N);
}
template <typename T>
kernel void update(device const T* numbers [[buffer(0)]], device T* out [[buffer(1)]],
                   device float* sums [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  T number = numbers[i];
  number += number * number;  // a temporary
  number += 100.0f;           // a conversion
  number -= T(0, 1) * number;
  out[i] = number;
  store(number.re, sums + i);
  sums[i] += static_cast<float>(static_cast<vec<brain, 2>>(vec<half, 2>(number.im)).y);
}
template [[host_name("update_3")]] kernel void update<complex, 3>(device const complex*, device complex*, uint);
template [[host_name("update_all")]] kernel void update<complex>(device const complex*, device complex*, device float*, uint);

// The right side may be the left one.
struct turned {
  float re, im;
  turned() = default;
  turned(float r, float i) : re(r), im(i) {}
  thread turned& operator*=(thread const turned& o) {
    re = re * o.re - im * o.im;
    im = re * o.im + im * o.re;
    return *this;
  }
  float size() const;
  static turned unit(float im);
  float real() device const;
};
float turned::real() device const { return re; }
template <typename T>
struct doubled {
  T x;
  T value() const;
};
template <typename T>
T doubled<T>::value() const {
  return x + x;
}
static float to_global(const thread turned& __restrict a, const thread float& __restrict b) {
  return a.re + b;
}
float turned::size() const { return re * re + im * im; }
turned turned::unit(float im) { return turned(1, im); }
kernel void turn(device float* out [[buffer(0)]], device const turned* all [[buffer(1)]]) {
  turned a(2, 1);
  a *= a;  // 3, then 3 + 3
  out[0] = a.re, out[1] = a.im;
  a *= turned::unit(0);
  out[2] = a.size();
  out[3] = to_global(a, 1.0f) + all->real();
  out[4] = doubled<float>{4}.value();
}
constant int after = 1, twice = 2;  // no functions, with which searches for calls might begin
