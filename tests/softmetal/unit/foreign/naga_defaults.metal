// Methods with reference qualifiers: naga's struct that becomes the zero of any type, and overloads that tell
// objects of the thread from temporaries.
#include <metal_stdlib>

struct DefaultConstructible {
  template <typename T>
  operator T() && {
    return T{};
  }
};
struct AnyOne {
  template <typename T>
  operator T() const {
    return T(1);
  }
};

struct Counter {
  int value;
  int get() const thread& { return value; }
  int get() && { return value + 100; }
  int peek() const& noexcept { return value; }
  thread Counter& set(int v) thread& {
    value = v;
    return *this;
  }
};

kernel void defaults(device int* out [[buffer(0)]], device const metal::int4* in [[buffer(1)]],
                     constant uint& size [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  const metal::int4 row = i < size ? in[i] : DefaultConstructible();
  const int first = i < size ? in[i].x : DefaultConstructible();
  out[i] = first + row.y + metal::int4(DefaultConstructible()).z;
  int one = AnyOne();
  out[i] += one;
}

kernel void objects(device int* out [[buffer(0)]]) {
  Counter counter = {3};
  out[0] = counter.get();
  out[1] = Counter{4}.get();
  out[2] = counter.set(5).value;
  out[3] = Counter{6}.peek() + counter.peek();
}
