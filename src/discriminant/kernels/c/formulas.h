/* Pointwise losses l(t, z) of one output with their first and second derivatives by z: the formulas of criteria/.

   The tests compare each with its NumPy form.  `b` is the margin, where a criterion has one. */

#ifndef DISCRIMINANT_FORMULAS_H
#define DISCRIMINANT_FORMULAS_H

#include "vecmath.h"

enum criterion { LOGISTIC = 1, SQUARED = 2, PERCEPTRON = 3, QUADRATIC = 4, RELAXATION = 5, SIGMOID_SQUARED = 6, SOFTMAX = 7 };

typedef struct { double value, gradient, curvature; } Loss;

/* l = ln(1+e^z) - tz,  l' = s(z) - t,  l'' = s(1-s); l' as (1-t)s - t(1-s), which keeps its digits next to a target */
static inline Loss logistic(double t, double z, double b)
{
    (void)b;
    double tail = exp_negative(-fabs(z));
    double near = 1.0 / (1.0 + tail), far = tail * near;
    double p = z >= 0 ? near : far, rest = z >= 0 ? far : near;
    double linear = z >= 0 ? (1.0 - t) * z : -t * z;
    Loss l = {linear + log1p_positive(tail), (1.0 - t) * p - t * rest, near * far};
    return l;
}

/* l = (z - t)^2 / 2 */
static inline Loss squared(double t, double z, double b)
{
    (void)b;
    double r = z - t;
    Loss l = {0.5 * r * r, r, 1.0};
    return l;
}

/* l = max(0, b - tz) */
static inline Loss perceptron(double t, double z, double b)
{
    double m = b - t * z;
    Loss l = {m > 0 ? m : 0.0, m >= 0 ? -t : 0.0, 0.0};
    return l;
}

/* l = max(0, b - tz)^2 */
static inline Loss quadratic(double t, double z, double b)
{
    double m = b - t * z;
    m = m > 0 ? m : 0.0;
    Loss l = {m * m, -2.0 * t * m, m > 0 ? 2.0 : 0.0};
    return l;
}

/* l = max(0, b - tz)^2 / 2; that it is divided by |y|^2 is the rows' business */
static inline Loss relaxation(double t, double z, double b)
{
    double m = b - t * z;
    m = m > 0 ? m : 0.0;
    Loss l = {0.5 * m * m, -t * m, m > 0 ? 1.0 : 0.0};
    return l;
}

/* l = (t - s(z))^2 / 2 */
static inline Loss sigmoid_squared(double t, double z, double b)
{
    (void)b;
    double tail = exp_negative(-fabs(z));
    double near = 1.0 / (1.0 + tail), far = tail * near;
    double p = z >= 0 ? near : far, rest = z >= 0 ? far : near;
    double r = (1.0 - t) * p - t * rest, slope = near * far;
    Loss l = {0.5 * r * r, r * slope, slope * (slope + r * (rest - p))};
    return l;
}

#endif
