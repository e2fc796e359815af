// Kernels that treat each element on its own. A thread takes 16 bytes of its result, or what is left of them.
// Results may lie where an operand does.
#include "map.cuh"
#include "normal.cuh"

// map1 computes y = f(x), map2 y = f(a, b). A thread takes V elements.
template <int V, typename Y, typename X, typename F> DEVICE void map1(Y *y, const X *x, int n, F f) {
    long long i = V * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    if (i + V <= n) {
        vec<V> v = get<V>(x, i);
#pragma unroll
        for (int k = 0; k < V; k++) v.v[k] = f(v.v[k]);
        put<V>(y, i, v);
        return;
    }
    for (; i < n; i++) store(y, i, f(load(x, i)));
}
template <int V, typename T, typename F> DEVICE void map2(T *y, const T *a, const T *b, int n, F f) {
    long long i = V * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    if (i + V <= n) {
        vec<V> v = get<V>(a, i), w = get<V>(b, i);
#pragma unroll
        for (int k = 0; k < V; k++) v.v[k] = f(v.v[k], w.v[k]);
        put<V>(y, i, v);
        return;
    }
    for (; i < n; i++) store(y, i, f(load(a, i), load(b, i)));
}

#define MAP1(name, f)                                                                                               \
    extern "C" __global__ void name##_f32(float *y, const float *x, int n) { map1<4>(y, x, n, [](float v) f); }     \
    extern "C" __global__ void name##_bf16(bf16 *y, const bf16 *x, int n) { map1<8>(y, x, n, [](float v) f); }
#define MAP2(name, f)                                                                                               \
    extern "C" __global__ void name##_f32(float *y, const float *a, const float *b, int n) {                        \
        map2<4>(y, a, b, n, [](float v, float w) f);                                                                \
    }                                                                                                               \
    extern "C" __global__ void name##_bf16(bf16 *y, const bf16 *a, const bf16 *b, int n) {                          \
        map2<8>(y, a, b, n, [](float v, float w) f);                                                                \
    }

MAP2(add, { return v + w; })
MAP1(relu, { return rectify(v); })
MAP2(relu_backward, { return gate(v, w); })
MAP1(tanh, { return tanhf(v); })
MAP2(tanh_backward, { return v * (1.f - w * w); })
#define GELU(suffix, T)                                                                                             \
    extern "C" __global__ void gelu##suffix(T *y, const T *x, int n) {                                              \
        map1<WIDE(T)>(y, x, n, [=](float v) { return v * normal(x, v); });                                          \
    }                                                                                                               \
    extern "C" __global__ void gelu_backward##suffix(T *y, const T *a, const T *b, int n) {                         \
        map2<WIDE(T)>(y, a, b, n, [=](float v, float w) { return v * geluSlope(b, w); });                           \
    }
GELU(_f32, float)
GELU(_bf16, bf16)

extern "C" __global__ void scale_f32(float *y, const float *x, int n, float factor) {
    map1<4>(y, x, n, [=](float v) { return v * factor; });
}
extern "C" __global__ void scale_bf16(bf16 *y, const bf16 *x, int n, float factor) {
    map1<8>(y, x, n, [=](float v) { return v * factor; });
}

extern "C" __global__ void convert_f32_bf16(bf16 *y, const float *x, int n) {
    map1<8>(y, x, n, [](float v) { return v; });
}
extern "C" __global__ void convert_bf16_f32(float *y, const bf16 *x, int n) {
    map1<8>(y, x, n, [](float v) { return v; });
}

// fill sets all elements to a value.
template <int V, typename T> DEVICE void fill(T *y, int n, float value) {
    long long i = V * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    if (i + V <= n) {
        vec<V> v;
#pragma unroll
        for (int k = 0; k < V; k++) v.v[k] = value;
        put<V>(y, i, v);
        return;
    }
    for (; i < n; i++) store(y, i, value);
}
extern "C" __global__ void fill_f32(float *y, int n, float value) { fill<4>(y, n, value); }
extern "C" __global__ void fill_bf16(bf16 *y, int n, float value) { fill<8>(y, n, value); }

// scale_rows computes y[i] = x[i] * f[row of i] for rows of cols elements.
extern "C" __global__ void scale_rows(float *y, const float *x, const float *f, int n, int cols) {
    long long i = 4 * ((long long)blockIdx.x * blockDim.x + threadIdx.x);
    for (int k = 0; k < 4 && i + k < n; k++) y[i + k] = x[i + k] * f[(i + k) / cols];
}
