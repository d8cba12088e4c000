// Functions of metal_math that are computed in double precision and rounded once. This is plain C, because
// programs have no double. Compiled into the object that every library links.
#include <math.h>

#define EXPORT __attribute__((visibility("hidden")))
#define F1(NAME, EXPRESSION) \
  EXPORT float __sm_##NAME(float f) { const double x = f; return (float)(EXPRESSION); }
#define F2(NAME, EXPRESSION) \
  EXPORT float __sm_##NAME(float f, float g) { const double x = f, y = g; return (float)(EXPRESSION); }

static const double kPi = 3.14159265358979323846;

// sin(pi x) and cos(pi x) for any x: the reduction to [-1/2, 1/2] is exact.
static double sin_pi(double x) {
  if (isinf(x) || isnan(x)) return NAN;
  double r = x - 2 * rint(x / 2);  // in [-1, 1]
  if (r > 0.5) r = 1 - r;
  if (r < -0.5) r = -1 - r;
  return r == 0 ? copysign(0.0, x) : sin(kPi * r);
}
static double cos_pi(double x) {
  if (isinf(x) || isnan(x)) return NAN;
  const double r = fabs(x - 2 * rint(x / 2));  // in [0, 1]
  if (r == 0.5) return 0;
  return r < 0.5 ? cos(kPi * r) : -cos(kPi * (1 - r));
}

F1(acos, acos(x))
F1(acosh, acosh(x))
F1(asin, asin(x))
F1(asinh, asinh(x))
F1(atan, atan(x))
F1(atanh, atanh(x))
F1(cos, cos(x))
F1(cosh, cosh(x))
F1(cospi, cos_pi(x))
F1(exp, exp(x))
F1(exp2, exp2(x))
F1(exp10, pow(10, x))
F1(log, log(x))
F1(log2, log2(x))
F1(log10, log10(x))
F1(rsqrt, 1 / sqrt(x))
F1(sin, sin(x))
F1(sinh, sinh(x))
F1(sinpi, sin_pi(x))
F1(tan, tan(x))
F1(tanh, tanh(x))
F1(tanpi, sin_pi(x) / cos_pi(x))
F2(atan2, atan2(x, y))
F2(fmod, fmod(x, y))
F2(pow, pow(x, y))
F2(powr, x < 0 ? NAN : pow(x, y))

EXPORT float __sm_nextafter(float x, float y) { return nextafterf(x, y); }
EXPORT float __sm_fma(float x, float y, float z) { return fmaf(x, y, z); }

// A sum that is rounded to odd in double is rounded to half as the exact sum is: double has more than
// twice the digits of half. (Boldo and Melquiond, "When double rounding is odd".)
EXPORT float __sm_fma_half(float x, float y, float z) {
  const double p = (double)x * (double)y;  // exact
  const double s = p + (double)z;
  if (!isfinite(s)) return (float)s;
  const double t = s - p, error = (p - (s - t)) + ((double)z - t);
  union {
    double d;
    long i;
  } bits = {s};
  if (error != 0 && (bits.i & 1) == 0) bits.i += (error > 0) == (s > 0) ? 1 : -1;
  // Once more to odd on the way to float, of which half has fewer than half the digits.
  float f = (float)bits.d;
  union {
    float f;
    int i;
  } narrow = {f};
  if ((double)f != bits.d && (narrow.i & 1) == 0) {
    narrow.i += (fabs((double)f) < fabs(bits.d)) ? 1 : -1;
  }
  return narrow.f;
}

EXPORT float __sm_ldexp(float x, int k) { return ldexpf(x, k); }
EXPORT float __sm_frexp(float x, int* exponent) {
  if (!isfinite(x)) {
    *exponent = 0;
    return x;
  }
  return frexpf(x, exponent);
}
EXPORT int __sm_ilogb(float x) { return ilogbf(x); }

// Called by code for processors without such instructions; libgcc has it from version 13 on.
EXPORT __bf16 __truncsfbf2(float x) {
  union {
    float f;
    unsigned u;
  } from = {x};
  union {
    unsigned short u;
    __bf16 b;
  } to;
  if (x != x) {
    to.u = (unsigned short)(from.u >> 16 | 0x40);
  } else {
    to.u = (unsigned short)((from.u + 0x7fff + (from.u >> 16 & 1)) >> 16);
  }
  return to.b;
}
