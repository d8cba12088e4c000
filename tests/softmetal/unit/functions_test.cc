// Tests functions of the standard library.
#include <cmath>

#include "tests/softmetal/unit/harness.h"

namespace softmetal {
namespace {

const std::vector<ValueCase> kMath = {
    {"sqrt is correctly rounded", "out[0] = sqrt(2.0f);", {std::sqrt(2.0F)}},
    {"the quotient of floats is correctly rounded",
     "float x = 1, y = 3; out[0] = x / y;",
     {1.0F / 3.0F}},
    {"fma rounds once", "float x = 1 + 0x1p-12f; out[0] = fma(x, x, -(1 + 0x1p-11f));", {0x1p-24F}},
    {"products and sums are not contracted in the safe mode",
     "float x = 1 + 0x1p-12f; float y = -(1 + 0x1p-11f); out[0] = x * x + y;",
     {0}},
    {"fma of half rounds once",
     "half x = 1.0009765625h; out[0] = fma(x, x, -1.001953125h);",
     {0x1p-20F}},
    {"exp and log of exact arguments",
     "out[0] = exp(0.0f); out[1] = log(1.0f); out[2] = exp2(10.0f); out[3] = log2(8.0f); out[4] = "
     "log10(1000.0f); out[5] = exp10(2.0f);",
     {1, 0, 1024, 3, 3, 100}},
    {"sin is the nearest float of the real value",
     "out[0] = sin(1.0f); out[1] = cos(1.0f);",
     {static_cast<float>(std::sin(1.0)), static_cast<float>(std::cos(1.0))}},
    {"precise:: and fast:: have the same functions",
     "out[0] = precise::tanh(1.0f); out[1] = fast::tanh(1.0f);",
     {static_cast<float>(std::tanh(1.0)), static_cast<float>(std::tanh(1.0))}},
    {"sinpi and cospi are exact at multiples of a half",
     "out[0] = sinpi(1.5f); out[1] = cospi(1.0f); out[2] = cospi(0.5f);",
     {-1, -1, 0}},
    {"pow of a negative base and a whole exponent", "out[0] = pow(-2.0f, 3.0f);", {-8}},
    {"powr is defined for bases from 0 on",
     "out[0] = powr(-2.0f, 2.0f); out[1] = powr(4.0f, 0.5f);",
     {NAN, 2}},
    {"rint rounds halves to even, round away from zero",
     "out[0] = rint(2.5f); out[1] = round(2.5f); out[2] = round(-2.5f);",
     {2, 3, -3}},
    {"floor, ceil and trunc",
     "out[0] = floor(-1.5f); out[1] = ceil(-1.5f); out[2] = trunc(-1.5f);",
     {-2, -1, -1}},
    {"fract stays below 1", "out[0] = fract(-1e-9f) < 1; out[1] = fract(1.25f);", {1, 0.25}},
    {"fract of an infinity is zero", "out[0] = fract(INFINITY);", {0}},
    {"fmod has the sign of the dividend", "out[0] = fmod(-7.0f, 4.0f);", {-3}},
    {"fmin and fmax prefer a number over NaN",
     "out[0] = fmax(NAN, 1.0f); out[1] = fmin(1.0f, NAN);",
     {1, 1}},
    {"clamp and saturate", "out[0] = clamp(5.0f, 0.0f, 2.0f); out[1] = saturate(-1.0f);", {2, 0}},
    {"saturate of NaN is 0", "out[0] = saturate(NAN);", {0}},
    {"mix is x + (y - x) a", "out[0] = mix(1.0f, 3.0f, 0.25f);", {1.5}},
    {"step and smoothstep",
     "out[0] = step(1.0f, 1.0f); out[1] = step(1.0f, 0.5f); out[2] = smoothstep(0.0f, 2.0f, 1.0f);",
     {1, 0, 0.5}},
    {"sign keeps the sign of zero",
     "out[0] = sign(-0.0f); out[1] = sign(-3.0f); out[2] = sign(NAN);",
     {-0.0F, -1, 0}},
    {"copysign and fdim",
     "out[0] = copysign(3.0f, -1.0f); out[1] = fdim(5.0f, 3.0f); out[2] = fdim(3.0f, 5.0f);",
     {-3, 2, 0}},
    {"max3, min3 and median3",
     "out[0] = max3(1.0f, 3.0f, 2.0f); out[1] = min3(1.0f, 3.0f, 2.0f); out[2] = median3(1.0f, "
     "3.0f, 2.0f);",
     {3, 1, 2}},
    {"frexp splits into a mantissa and an exponent",
     "int e; out[0] = frexp(12.0f, e); out[1] = e;",
     {0.75, 4}},
    {"ldexp scales by a power of two", "out[0] = ldexp(0.75f, 4);", {12}},
    {"ilogb is the exponent", "out[0] = ilogb(10.0f);", {3}},
    {"modf gives both parts with the sign",
     "float w; out[0] = modf(-2.5f, w); out[1] = w;",
     {-0.5, -2}},
    {"sincos gives both", "float c; float s = sincos(0.0f, c); out[0] = s; out[1] = c;", {0, 1}},
    {"rsqrt", "out[0] = rsqrt(4.0f);", {0.5}},
    {"atan2 takes y first",
     "out[0] = atan2(1.0f, 0.0f);",
     {static_cast<float>(std::atan2(1.0, 0.0))}},
    {"nextafter is the neighbor", "out[0] = nextafter(1.0f, 2.0f);", {1 + 0x1p-23F}},
    {"functions work by components",
     "float3 v = max(float3(1, 5, 3), float3(4, 2, 3)); out[0] = v.x; out[1] = v.y;",
     {4, 5}},
    {"a scalar argument is repeated",
     "out[0] = max(float3(1, 5, 3), 2.0f).x; out[1] = clamp(float2(7), 0, 1).y;",
     {2, 1}},
    {"half has the same functions",
     "out[0] = exp(0.0h); out[1] = float(sqrt(half2(4, 9)).y);",
     {1, 3}},
    {"dot and cross",
     "out[0] = dot(float3(1, 2, 3), float3(4, 5, 6)); out[1] = cross(float3(1, 0, 0), float3(0, 1, "
     "0)).z;",
     {32, 1}},
    {"length and distance",
     "out[0] = length(float2(3, 4)); out[1] = distance(float2(1, 1), float2(4, 5)); out[2] = "
     "length_squared(float2(3, 4));",
     {5, 5, 25}},
    {"normalize", "out[0] = normalize(float2(0, 2)).y;", {1}},
    {"reflect and faceforward",
     "out[0] = reflect(float2(1, -1), float2(0, 1)).y; out[1] = faceforward(float2(0, 1), "
     "float2(0, 1), float2(0, 1)).y;",
     {1, -1}},
    {"denormals are kept", "float x = 0x1p-126f; out[0] = x / 2 * 2 == x;", {1}},
    {"constants are floats",
     "out[0] = M_PI_F; out[1] = FLT_MAX == numeric_limits<float>::max(); out[2] = sizeof(M_PI_H);",
     {3.14159265358979F, 1, 2}},
};
SOFTMETAL_VALUE_TESTS(Math, kMath);

const std::vector<ValueCase> kIntegers = {
    {"abs of the least integer is itself",
     "out[0] = abs(int(-2147483647 - 1)) == -2147483647 - 1;",
     {1}},
    {"absdiff does not overflow",
     "out[0] = absdiff(-100, 27); out[1] = absdiff(char(-100), char(27)) == char(127);",
     {127, 1}},
    {"addsat and subsat stop at the limits",
     "out[0] = addsat(uchar(250), uchar(10)); out[1] = subsat(uchar(5), uchar(10)); out[2] = "
     "addsat(char(100), char(100));",
     {255, 0, 127}},
    {"addsat of long",
     "out[0] = addsat(LONG_MAX, 1l) == LONG_MAX; out[1] = subsat(LONG_MIN, 1l) == LONG_MIN;",
     {1, 1}},
    {"hadd rounds down, rhadd up",
     "out[0] = hadd(3, 4); out[1] = rhadd(3, 4); out[2] = hadd(-3, -4);",
     {3, 4, -4}},
    {"hadd does not overflow", "out[0] = hadd(0xffffffffu, 0xfffffffdu) == 0xfffffffeu;", {1}},
    {"clz, ctz and popcount",
     "out[0] = clz(1u); out[1] = ctz(8u); out[2] = popcount(0xf0fu); out[3] = clz(0u); out[4] = "
     "clz(ushort(1)); out[5] = ctz(uchar(0));",
     {31, 3, 8, 32, 15, 8}},
    {"reverse_bits",
     "out[0] = reverse_bits(1u) == 0x80000000u; out[1] = reverse_bits(uchar(3));",
     {1, 192}},
    {"rotate brings bits back in",
     "out[0] = rotate(0x80000001u, 1u); out[1] = rotate(uchar(0x81), uchar(9));",
     {3, 3}},
    {"mulhi is the upper half of the product",
     "out[0] = mulhi(0x80000000u, 4u); out[1] = mulhi(-1, 5); out[2] = mulhi(1ul << 63, 4ul);",
     {2, -1, 2}},
    {"madhi adds to it", "out[0] = madhi(0x80000000u, 4u, 3u);", {5}},
    {"madsat stops at the limits",
     "out[0] = madsat(100000, 100000, 1) == INT_MAX; out[1] = madsat(3, 4, 5); out[2] = "
     "madsat(0xffffffffu, 2u, 1u) == 0xffffffffu;",
     {1, 17, 1}},
    {"mul24 and mad24", "out[0] = mul24(-3, 5); out[1] = mad24(3u, 5u, 1u);", {-15, 16}},
    {"extract_bits repeats the sign",
     "out[0] = extract_bits(0xf0, 4u, 4u); out[1] = extract_bits(0xf0u, 4u, 4u); out[2] = "
     "extract_bits(5u, 3u, 0u);",
     {-1, 15, 0}},
    {"insert_bits",
     "out[0] = insert_bits(0u, 15u, 4u, 4u); out[1] = insert_bits(255u, 0u, 0u, 4u);",
     {240, 240}},
    {"median3 of integers",
     "out[0] = median3(3, 9, 5); out[1] = max3(3, 9, 5); out[2] = min3(3u, 9u, 5u);",
     {5, 9, 3}},
    {"clamp of vectors of integers", "out[0] = clamp(int2(7, -7), -1, 5).y;", {-1}},
    {"unsigned arithmetic wraps", "uint x = 0; out[0] = x - 1 == 0xffffffffu;", {1}},
    {"small integers are promoted and cut", "uchar x = 255; x += 2; out[0] = x;", {1}},
};
SOFTMETAL_VALUE_TESTS(Integers, kIntegers);

const std::vector<ValueCase> kRelational = {
    {"isnan, isinf and isfinite",
     "out[0] = isnan(NAN); out[1] = isinf(-INFINITY); out[2] = isfinite(INFINITY); out[3] = "
     "isfinite(1.0f);",
     {1, 1, 0, 1}},
    {"isnormal is false for denormals and zero",
     "out[0] = isnormal(0x1p-127f); out[1] = isnormal(0.0f); out[2] = isnormal(-1.0f);",
     {0, 0, 1}},
    {"signbit sees the sign of zero", "out[0] = signbit(-0.0f);", {1}},
    {"isordered and isunordered",
     "out[0] = isordered(1.0f, NAN); out[1] = isunordered(1.0f, NAN);",
     {0, 1}},
    {"all and any", "out[0] = all(bool2(true, false)); out[1] = any(bool2(true, false));", {0, 1}},
    {"select takes the second where the condition holds",
     "float2 v = select(float2(1, 2), float2(3, 4), bool2(true, false)); out[0] = v.x; out[1] = "
     "v.y;",
     {3, 2}},
    {"select by a scalar takes all",
     "out[0] = select(float2(1, 2), float2(3, 4), true).y; out[1] = select(1, 2, false);",
     {4, 1}},
    {"?: takes one of two vectors",
     "bool c = out[0] < 0; float2 v = c ? float2(1, 2) : -float2(3, 4); out[0] = v.y;",
     {2}},
    {"?: mixes vectors of several spaces",
     "device float2* p = (device float2*)out; bool c = true; float2 v(7); float2 w = c ? v : p[0]; "
     "out[0] = w.x;",
     {7}},
};
SOFTMETAL_VALUE_TESTS(Relational, kRelational);

const std::vector<ValueCase> kPacking = {
    {"unorm rounds to nearest",
     "out[0] = pack_float_to_unorm4x8(float4(1, 0, 0.5, 1)) == 0xff8000ffu;",
     {1}},
    {"unorm stops at 0 and 1",
     "out[0] = pack_float_to_unorm2x16(float2(-1, 2)) == 0xffff0000u;",
     {1}},
    {"snorm has no -128", "out[0] = pack_float_to_snorm4x8(float4(-1, 1, 0, 0)) == 0x7f81u;", {1}},
    {"unpacking is the inverse",
     "float4 v = unpack_unorm4x8_to_float(0xff0000ffu); out[0] = v.x; out[1] = v.y; out[2] = v.w;",
     {1, 0, 1}},
    {"both least values of snorm are -1",
     "out[0] = unpack_snorm2x16_to_float(0x80008001u).x; out[1] = "
     "unpack_snorm2x16_to_float(0x80008001u).y;",
     {-1, -1}},
    {"half forms",
     "out[0] = pack_half_to_unorm4x8(half4(1)) == 0xffffffffu; out[1] = "
     "float(unpack_unorm2x16_to_half(0xffffu).x);",
     {1, 1}},
    {"10 and 2 bits",
     "out[0] = pack_float_to_unorm10a2(float4(1, 0, 0, 1)) == 0xc00003ffu; out[1] = "
     "unpack_unorm10a2_to_float(0xc0000000u).w;",
     {1, 1}},
    {"5, 6 and 5 bits",
     "out[0] = pack_float_to_unorm565(float3(1, 0, 1)) == 0xf81f; out[1] = "
     "unpack_unorm565_to_float(ushort(0x7e0)).y;",
     {1, 1}},
};
SOFTMETAL_VALUE_TESTS(Packing, kPacking);

const std::vector<ValueCase> kTypes = {
    {"array<T, N> has a size and elements",
     "array<float, 3> a = {1, 2, 3}; a[1] = 5; out[0] = a[1]; out[1] = a.size();",
     {5, 3}},
    {"numeric_limits",
     "out[0] = numeric_limits<uchar>::max(); out[1] = numeric_limits<short>::min(); out[2] = "
     "numeric_limits<half>::max();",
     {255, -32768, 65504}},
    {"traits",
     "out[0] = is_same<float, float>::value; out[1] = is_integral<half>::value; out[2] = "
     "is_signed<int>::value; out[3] = is_unsigned<uint>::value;",
     {1, 0, 1, 1}},
    {"types of the host's header",
     "simd_float4 v = simd_float4(1); simd::float3 w(2); out[0] = v.x + w.y;",
     {3}},
    {"names are in namespace metal as well",
     "metal::float2 v(1, 2); metal::uint n = 3; out[0] = metal::max(v.x, v.y) + n;",
     {5}},
    {"a union keeps bits",
     "union { float f; uint u; } x; x.f = 1; out[0] = x.u == 0x3f800000u;",
     {1}},
    {"sizes of integers",
     "out[0] = sizeof(long); out[1] = sizeof(size_t); out[2] = sizeof(bool); out[3] = "
     "sizeof(char);",
     {8, 8, 1, 1}},
    {"a lambda captures",
     "float x = 2; auto f = [&](float y) { return x * y; }; out[0] = f(3);",
     {6}},
    {"atomics by value",
     "device atomic_uint* a = (device atomic_uint*)out; atomic_store_explicit(a, 5u, "
     "memory_order_relaxed); "
     "uint old = atomic_fetch_add_explicit(a, 3u, memory_order_relaxed); uint now = "
     "atomic_load_explicit(a, memory_order_relaxed); out[0] = now; out[1] = old;",
     {8, 5}},
    {"atomic min, max and bits",
     "device atomic_int* a = (device atomic_int*)out; atomic_store_explicit(a, 12, "
     "memory_order_relaxed); "
     "atomic_fetch_min_explicit(a, -3, memory_order_relaxed); atomic_fetch_max_explicit(a, 6, "
     "memory_order_relaxed); atomic_fetch_or_explicit(a, 9, memory_order_relaxed); "
     "int v = atomic_exchange_explicit(a, 0, memory_order_relaxed); out[0] = v;",
     {15}},
    {"compare-exchange writes what it expected",
     "device atomic_uint* a = (device atomic_uint*)out; atomic_store_explicit(a, 5u, "
     "memory_order_relaxed); uint e = 4; "
     "bool b = atomic_compare_exchange_weak_explicit(a, &e, 9u, memory_order_relaxed, "
     "memory_order_relaxed); out[0] = b; out[1] = e;",
     {0, 5}},
    {"atomic floats add",
     "device atomic_float* a = (device atomic_float*)out; atomic_store_explicit(a, 1.5f, "
     "memory_order_relaxed); atomic_fetch_add_explicit(a, 2.0f, memory_order_relaxed);",
     {3.5}},
};
SOFTMETAL_VALUE_TESTS(Types, kTypes);

}  // namespace
}  // namespace softmetal
