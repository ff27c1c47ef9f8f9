/* Vectors of doubles as wide as the instruction set, and the elementary functions that losses are made of.

   The functions are straight-line code, so that compilers turn loops over them into vectors; no library is called.
   Each file that includes this one is compiled once for every instruction-set level. */

#ifndef DISCRIMINANT_VECMATH_H
#define DISCRIMINANT_VECMATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#define LANES 8
#elif defined(__AVX__)
#define LANES 4
#else
#define LANES 2
#endif

typedef double vec __attribute__((vector_size(8 * LANES)));

typedef double loose __attribute__((vector_size(8 * LANES), aligned(8), may_alias)); /* anywhere in memory */
typedef float loose_floats __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

/* A square of LANES vectors, turned: halves change places, then halves of halves */
#define SWAP(i, j, low, high) \
    do { \
        vec a = r[i], b = r[j]; \
        r[i] = __builtin_shufflevector(a, b, low); \
        r[j] = __builtin_shufflevector(a, b, high); \
    } while (0)
#define LIST(...) __VA_ARGS__

static inline void turn(vec r[LANES])
{
#if LANES == 8
    for (int k = 0; k < 4; k++) SWAP(k, k + 4, LIST(0, 1, 2, 3, 8, 9, 10, 11), LIST(4, 5, 6, 7, 12, 13, 14, 15));
    for (int k = 0; k < 8; k += k % 2 ? 3 : 1) SWAP(k, k + 2, LIST(0, 1, 8, 9, 4, 5, 12, 13), LIST(2, 3, 10, 11, 6, 7, 14, 15));
    for (int k = 0; k < 8; k += 2) SWAP(k, k + 1, LIST(0, 8, 2, 10, 4, 12, 6, 14), LIST(1, 9, 3, 11, 5, 13, 7, 15));
#elif LANES == 4
    for (int k = 0; k < 2; k++) SWAP(k, k + 2, LIST(0, 1, 4, 5), LIST(2, 3, 6, 7));
    for (int k = 0; k < 4; k += 2) SWAP(k, k + 1, LIST(0, 4, 2, 6), LIST(1, 5, 3, 7));
#else
    SWAP(0, 1, LIST(0, 2), LIST(1, 3));
#endif
}

static inline double lanes_sum(vec v)
{
    double total = 0.0;
    for (int k = 0; k < LANES; k++) total += v[k];
    return total;
}

/* exp(x) for x <= 0, to an ulp or two; below -700 it is exp(-700), which no loss can tell from zero.

   exp(x) = 2^k exp(r) with k = round(x / ln 2) and |r| <= ln 2 / 2.  k is read off the low bits of x/ln 2 + 1.5 2^52;
   ln 2 is subtracted in two parts, so that r keeps its digits (Cody and Waite); exp(r) is its Taylor polynomial. */
static inline double exp_negative(double x)
{
    x = x < -700.0 ? -700.0 : x;
    double shifted = x * 1.4426950408889634 + 6755399441055744.0;
    double k = shifted - 6755399441055744.0;
    double r = x - k * 0.6931471803691238;
    r = r - k * 1.9082149292705877e-10;
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    int64_t bits;
    memcpy(&bits, &shifted, 8);
    bits = (int64_t)(((uint64_t)bits << 52) + 0x3ff0000000000000ULL);
    double power;
    memcpy(&power, &bits, 8);
    return power * p;
}

/* ln(1 + u) for u >= 0, to two ulps, also for the smallest u.

   1 + u = 2^k m with m in [sqrt(1/2), sqrt 2);  ln m = 2 artanh s = 2 (s + s^3/3 + ...),  s = (m - 1)/(m + 1).
   For k = 0, m - 1 is u itself: nothing is lost by forming 1 + u. */
static inline double log1p_positive(double u)
{
    double y = 1.0 + u;
    int64_t bits;
    memcpy(&bits, &y, 8);
    uint64_t shifted = (uint64_t)bits + (0x3ff0000000000000ULL - 0x3fe6a09e667f3bcdULL);
    uint64_t exponent = shifted >> 52;
    uint64_t mantissa = (shifted & 0x000fffffffffffffULL) + 0x3fe6a09e667f3bcdULL;
    double m;
    memcpy(&m, &mantissa, 8);
    /* the exponent as a double by its bits, since old instruction sets cannot convert 64-bit integers */
    uint64_t wide = exponent | 0x4330000000000000ULL;
    double k;
    memcpy(&k, &wide, 8);
    k -= 4503599627370496.0 + 1023.0;
    double top = k == 0.0 ? u : m - 1.0;
    double s = top / (2.0 + top);
    double x = s * s;
    double p = 1.0 / 23.0;
    p = p * x + 1.0 / 21.0;
    p = p * x + 1.0 / 19.0;
    p = p * x + 1.0 / 17.0;
    p = p * x + 1.0 / 15.0;
    p = p * x + 1.0 / 13.0;
    p = p * x + 1.0 / 11.0;
    p = p * x + 1.0 / 9.0;
    p = p * x + 1.0 / 7.0;
    p = p * x + 1.0 / 5.0;
    p = p * x + 1.0 / 3.0;
    return k * 0.6931471805599453 + (2.0 * s + 2.0 * s * x * p);
}

#endif
