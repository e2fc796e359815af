// Updates of weights, with the bits of the processor: each operation is rounded on its own, as in package
// row, and no compiler may fuse two.
//
// Vectors are taken from their last address that is a multiple of 16 bytes on; elements lo to hi-1 are
// updated. If whole is 0 that address differs among the vectors, which are then read element by element.
#include "base.cuh"

// over calls f with the first element and the number of elements of a thread, four if it can have whole vectors.
template <typename F> DEVICE void over(int lo, int hi, F f) {
    long long i = 4 * ((long long)blockIdx.x * blockDim.x + threadIdx.x), end = i + 4;
    if (i < lo) i = lo;
    if (end > hi) end = hi;
    if (i < end) f(i, (int)(end - i));
}

// take and give access count elements from element i on.
DEVICE four take(const float *p, long long i, int count, int whole) {
    if (count == 4 && whole) return load4(p, i);
    four x = {{0.f, 0.f, 0.f, 0.f}};
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if (k < count) x.v[k] = p[i + k];
    }
    return x;
}
DEVICE void give(float *p, long long i, four x, int count, int whole) {
    if (count == 4 && whole) {
        store4(p, i, x);
        return;
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if (k < count) p[i + k] = x.v[k];
    }
}

// update_add computes into += from.
extern "C" __global__ void update_add(float *into, const float *from, int lo, int hi, int whole) {
    over(lo, hi, [=](long long i, int count) {
        four x = take(into, i, count, whole), y = take(from, i, count, whole);
#pragma unroll
        for (int k = 0; k < 4; k++) x.v[k] = __fadd_rn(x.v[k], y.v[k]);
        give(into, i, x, count, whole);
    });
}

// update_sgd is row.CPU's SGD.
extern "C" __global__ void update_sgd(float *w, float *v, const float *grad, int lo, int hi, int whole, float lr,
                                      float momentum, float decay, float scale, int nesterov) {
    over(lo, hi, [=](long long i, int count) {
        four x = take(w, i, count, whole), u = take(v, i, count, whole), g = take(grad, i, count, whole);
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float d = __fadd_rn(__fmul_rn(g.v[k], scale), __fmul_rn(x.v[k], decay));
            float step = u.v[k] = __fadd_rn(__fmul_rn(u.v[k], momentum), d);
            if (nesterov) step = __fadd_rn(__fmul_rn(step, momentum), d);
            x.v[k] = __fsub_rn(x.v[k], __fmul_rn(step, lr));
        }
        give(v, i, u, count, whole);
        give(w, i, x, count, whole);
    });
}

// update_adamw is row.CPU's AdamW.
extern "C" __global__ void update_adamw(float *w, float *m, float *v, const float *grad, int lo, int hi, int whole,
                                        float scale, float decay, float first, float second, float rest, float rate,
                                        float root, float eps) {
    over(lo, hi, [=](long long i, int count) {
        four x = take(w, i, count, whole), a = take(m, i, count, whole), b = take(v, i, count, whole),
             q = take(grad, i, count, whole);
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float g = __fmul_rn(q.v[k], scale);
            a.v[k] = __fadd_rn(a.v[k], __fmul_rn(__fsub_rn(g, a.v[k]), first));
            b.v[k] = __fadd_rn(__fmul_rn(b.v[k], second), __fmul_rn(__fmul_rn(g, g), rest));
            float d = __fadd_rn(__fdiv_rn(__fsqrt_rn(b.v[k]), root), eps);
            x.v[k] = __fsub_rn(__fmul_rn(x.v[k], decay), __fmul_rn(__fdiv_rn(a.v[k], d), rate));
        }
        give(m, i, a, count, whole);
        give(v, i, b, count, whole);
        give(w, i, x, count, whole);
    });
}

// update_squares writes the sums of squares of runs of 4096 elements, 16 threads to a run, as package row takes
// them: lane l sums elements l, l+16, ..., then the upper half of the lanes is added to the lower one.
extern "C" __global__ void update_squares(const float *x, float *sums, int n) {
    const int lanes = 16, run = 4096;
    long long i = (long long)blockIdx.x * (blockDim.x / lanes) + threadIdx.x / lanes;
    long long from = i * run, to = from + run < n ? from + run : n;
    float s = 0.f;
    for (long long k = from + threadIdx.x % lanes; k < to; k += lanes) s = __fadd_rn(s, __fmul_rn(x[k], x[k]));
    for (int o = lanes / 2; o > 0; o >>= 1) s = __fadd_rn(s, __shfl_xor_sync(WHOLE_WARP, s, o));
    if (threadIdx.x % lanes == 0 && from < n) sums[i] = s;
}
