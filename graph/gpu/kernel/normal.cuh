// The normal distribution function Phi, of which GELU is made.
#pragma once
#include "base.cuh"

// tailOf returns Phi(-|x|) and puts exp(-x*x/2) in density. It is formula 7.1.26 of Abramowitz and Stegun 1964,
// which is off by 1e-7 at most: enough for what is rounded to bf16, in a third of the instructions of erff.
DEVICE float tailOf(float x, float &density) {
    float t = __fdividef(1.f, 1.f + 0.23164189f * fabsf(x));
    density = __expf(-0.5f * x * x);
    return t * (0.12741479f + t * (-0.14224837f + t * (0.71070687f + t * (-0.72657602f + t * 0.53070271f)))) * density;
}

// normal returns Phi(x) as precisely as maps of the type of p need.
DEVICE float normal(const float *, float x) { return 0.5f * (1.f + erff(x * 0.70710678118654752f)); }
DEVICE float normal(const bf16 *, float x) {
    float density, tail = tailOf(x, density);
    return x > 0.f ? 1.f - tail : tail;
}

// geluSlope returns the derivative of x*Phi(x).
DEVICE float geluSlope(const float *p, float x) {
    return normal(p, x) + x * expf(-0.5f * x * x) * 0.39894228040143268f;
}
DEVICE float geluSlope(const bf16 *, float x) {
    float density, tail = tailOf(x, density);
    return (x > 0.f ? 1.f - tail : tail) + x * density * 0.39894228040143268f;
}
