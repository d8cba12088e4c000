// Numbers of a class with operators, in chains and in all spaces.
#ifndef field_elements_h
#define field_elements_h
#include <metal_stdlib>

class Fp {
public:
    Fp() = default;
    constexpr Fp(unsigned int v) : inner(v % 97u) {}
    constexpr explicit operator unsigned int() const { return inner; }
    constexpr Fp operator+(const Fp rhs) const { return Fp(inner + rhs.inner); }
    constexpr Fp operator*(const Fp rhs) const { return Fp(inner * rhs.inner); }
    constexpr Fp operator*(unsigned int rhs) const { return Fp(inner * rhs); }
    constexpr bool operator==(const Fp rhs) const { return inner == rhs.inner; }
    constexpr Fp operator-() const { return Fp(97u - inner); }
    Fp operator+=(const Fp rhs) {
        *this = *this + rhs;
        return *this;
    }
    Fp pow(unsigned int exp) const {
        Fp result = Fp(1u), base = *this;
        for (; exp != 0; exp >>= 1) {
            if (exp & 1) result = result * base;
            base = base * base;
        }
        return result;
    }
    Fp inverse() const;

private:
    unsigned int inner;
};
inline Fp Fp::inverse() const { return pow(95); }

template <typename T>
struct Pair {
    T a, b;
    Pair<T> swapped() const { return Pair<T>{b, a}; }
    explicit operator metal::vec<unsigned int, 2>() const { return metal::uint2((unsigned int)a, (unsigned int)b); }
    T dot(Pair<T> o) const { return a * o.a + b * o.b; }
    T first() const device { return a; }
    T first() const threadgroup { return b; }
};
static Fp square_of(const thread Fp& x) { return x * x; }
static Fp half_of(thread const Fp& x) { return x * Fp(2u).inverse(); }
static Fp half_of(device const Fp& x) { Fp copy = x; return copy + Fp(1u); }
static float scaled(const thread float2& x) { return x.x * 2.0f; }
static float scaled(const device float2& x) { return x.y; }
static const thread Fp& second_of(const thread Fp& x, const thread Fp& y) { return y; }
struct View {
    const thread Fp& seen;
    View(const thread Fp& x) : seen(x) {}
};
template <typename T>
T larger_of(const thread T& x, const thread T& y) { return x > y ? x : y; }

[[kernel]] void elements(
    device Pair<Fp>* pairs [[buffer(0)]],
    device unsigned int* out [[buffer(1)]],
    unsigned int i [[thread_position_in_grid]])
{
    threadgroup Pair<Fp> shared;
    if (i != 0) return;
    Pair<Fp> p = pairs[0];
    shared = p;
    constexpr Fp six = Fp(1u) * Fp(2u) * Fp(3u);
    out[0] = (unsigned int)(p.a * p.b * p.a + six * 2u);
    out[1] = (unsigned int)square_of(p.a * Fp(1u)).pow(3);
    out[2] = (unsigned int)(p.swapped().swapped().dot(p) * six.inverse() * six);
    out[3] = (p.a * p.b).inverse() * p.a * p.b == Fp(1u) ? 1 : 0;
    Fp sum = p.a;
    sum += -(p.a + p.b) + p.b;
    out[4] = (unsigned int)sum;
    out[5] = (unsigned int)(pairs[0].first() + shared.first());
    Fp both = p.a + p.a, other = p.b;
    View view(other);
    const thread Fp& second = second_of(both, other);
    other = Fp(1u);
    out[8] = (unsigned int)(view.seen + second) + metal::uint2(p.swapped()).x;
    out[6] = (unsigned int)(half_of(both) + half_of(pairs[0].b));
    out[7] = larger_of(out[5] + 1, 2u * 3u) + (unsigned int)scaled(metal::float2(1.0f) + 0.5f);
}
#endif
