// What surrounds the products of a library: filters as cuDNN stores them, weights as bf16, channels up to a
// multiple of 8, biases.
//
// Letters: N H W C K R S as in product.cu. Filters of this project are [R, S, C, K] float32, those of cuDNN
// [K, R, S, D], where D >= C counts channels with those that only fill up.
#include "map.cuh"
#include "normal.cuh"

// A block of 32 x 8 threads transposes a tile of 32 x 32 through shared memory: 32 filters, in x, by 32
// elements (tap, channel) of the filled-up filters, in y.
constexpr int SIDE = 32, STEP = 8, PITCH = SIDE + 1;

// rowOf returns which row of [R S C, K] holds element i of a filled-up filter; -1 if none does.
DEVICE int rowOf(int i, int c, int d) {
    int channel = i % d;
    return channel < c ? i / d * c + channel : -1;
}

// filter copies [R, S, C, K] to [K, R, S, D], with zeros where there is no channel.
template <typename T> DEVICE void filter(T *to, const float *from, int taps, int c, int k, int d) {
    SHARED_ROOM(float, room);
    int size = taps * d, k0 = blockIdx.x * SIDE, i0 = blockIdx.y * SIDE;
    for (int j = threadIdx.y; j < SIDE; j += STEP) {
        int i = i0 + j, filter = k0 + threadIdx.x, row = i < size ? rowOf(i, c, d) : -1;
        room[j * PITCH + threadIdx.x] = row >= 0 && filter < k ? from[(long long)row * k + filter] : 0.f;
    }
    __syncthreads();
    for (int j = threadIdx.y; j < SIDE; j += STEP) {
        int filter = k0 + j, i = i0 + threadIdx.x;
        if (filter < k && i < size) store(to, (long long)filter * size + i, room[threadIdx.x * PITCH + j]);
    }
}

// unfilter copies [K, R, S, D] to [R, S, C, K].
template <typename T> DEVICE void unfilter(float *to, const T *from, int taps, int c, int k, int d) {
    SHARED_ROOM(float, room);
    int size = taps * d, k0 = blockIdx.x * SIDE, i0 = blockIdx.y * SIDE;
    for (int j = threadIdx.y; j < SIDE; j += STEP) {
        int filter = k0 + j, i = i0 + threadIdx.x;
        if (filter < k && i < size) room[threadIdx.x * PITCH + j] = load(from, (long long)filter * size + i);
    }
    __syncthreads();
    for (int j = threadIdx.y; j < SIDE; j += STEP) {
        int i = i0 + j, filter = k0 + threadIdx.x, row = i < size ? rowOf(i, c, d) : -1;
        if (row >= 0 && filter < k) to[(long long)row * k + filter] = room[j * PITCH + threadIdx.x];
    }
}

extern "C" __global__ void filter_f32(float *to, const float *from, int taps, int c, int k, int d) {
    filter(to, from, taps, c, k, d);
}
extern "C" __global__ void filter_bf16(bf16 *to, const float *from, int taps, int c, int k, int d) {
    filter(to, from, taps, c, k, d);
}
extern "C" __global__ void unfilter_f32(float *to, const float *from, int taps, int c, int k, int d) {
    unfilter(to, from, taps, c, k, d);
}
extern "C" __global__ void unfilter_bf16(float *to, const bf16 *from, int taps, int c, int k, int d) {
    unfilter(to, from, taps, c, k, d);
}

// fill_channels copies a map [pixels, C] to [pixels, D], with zeros behind the channels.
template <typename T> DEVICE void fillChannels(T *to, const T *from, int pixels, int c, int d) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    int pixel = (int)(i / d), channel = (int)(i % d);
    if (pixel < pixels) store(to, i, channel < c ? load(from, (long long)pixel * c + channel) : 0.f);
}
extern "C" __global__ void fill_channels_f32(float *to, const float *from, int pixels, int c, int d) {
    fillChannels(to, from, pixels, c, d);
}
extern "C" __global__ void fill_channels_bf16(bf16 *to, const bf16 *from, int pixels, int c, int d) {
    fillChannels(to, from, pixels, c, d);
}

// group runs f on the thread's four elements of n, all at once if that is possible. f takes the elements' first
// index and their number.
template <typename F> DEVICE void group(int n, int cols, F f) {
    long long i = 4ll * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    f(i, n - i < 4 ? (int)(n - i) : 4, cols % 4 == 0);
}

// get4 and put4 access the first count of four elements; if whole, there are four and i is a multiple of 4.
template <typename T> DEVICE four get4(const T *p, long long i, int count, bool whole) {
    if (whole) return load4(p, i);
    four v = {{0.f, 0.f, 0.f, 0.f}};
    for (int j = 0; j < 4; j++) {
        if (j < count) v.v[j] = load(p, i + j);
    }
    return v;
}
template <typename T> DEVICE void put4(T *p, long long i, four v, int count, bool whole) {
    if (whole) {
        store4(p, i, v);
        return;
    }
    for (int j = 0; j < 4; j++) {
        if (j < count) store(p, i + j, v.v[j]);
    }
}

// biased returns four elements of y with their bias; y has cols columns.
template <typename T>
DEVICE four biased(const T *y, const float *bias, long long i, int cols, int count, bool whole) {
    four v = get4(y, i, count, whole);
    if (!bias) return v;
    int col = (int)((u32)i % (u32)cols);
    if (whole) {
        four b = load4(bias, col);
        for (int j = 0; j < 4; j++) v.v[j] += b.v[j];
        return v;
    }
    for (int j = 0; j < 4; j++) {
        v.v[j] += bias[col];
        if (++col == cols) col = 0;
    }
    return v;
}

// bias adds a bias, which may be null, to the n elements of y in place, and takes the maximum with 0 if relu.
template <typename T> DEVICE void addBias(T *y, const float *bias, int n, int cols, int relu) {
    group(n, cols, [=](long long i, int count, bool whole) {
        four v = biased(y, bias, i, cols, count, whole);
        if (relu) {
            for (int j = 0; j < 4; j++) v.v[j] = fmaxf(v.v[j], 0.f);
        }
        put4(y, i, v, count, whole);
    });
}
extern "C" __global__ void bias_f32(float *y, const float *bias, int n, int cols, int relu) {
    addBias(y, bias, n, cols, relu);
}
extern "C" __global__ void bias_bf16(bf16 *y, const float *bias, int n, int cols, int relu) {
    addBias(y, bias, n, cols, relu);
}

// bias_gelu adds a bias, which may be null, to y in place, and writes GELU of that, as it is stored, to g.
template <typename T> DEVICE void biasGELU(T *y, T *g, const float *bias, int n, int cols) {
    group(n, cols, [=](long long i, int count, bool whole) {
        four v = biased(y, bias, i, cols, count, whole);
        if (bias) {
            put4(y, i, v, count, whole);
            v = get4(y, i, count, whole);
        }
        for (int j = 0; j < 4; j++) v.v[j] *= normal(y, v.v[j]);
        put4(g, i, v, count, whole);
    });
}
extern "C" __global__ void bias_gelu_f32(float *y, float *g, const float *bias, int n, int cols) {
    biasGELU(y, g, bias, n, cols);
}
extern "C" __global__ void bias_gelu_bf16(bf16 *y, bf16 *g, const float *bias, int n, int cols) {
    biasGELU(y, g, bias, n, cols);
}

// accumulate adds the n elements of x to those of y.
template <typename T> DEVICE void accumulate(T *y, const T *x, int n) {
    group(n, n, [=](long long i, int count, bool whole) {
        four a = get4(y, i, count, whole), b = get4(x, i, count, whole);
        for (int j = 0; j < 4; j++) a.v[j] += b.v[j];
        put4(y, i, a, count, whole);
    });
}
extern "C" __global__ void accumulate_f32(float *y, const float *x, int n) { accumulate(y, x, n); }
extern "C" __global__ void accumulate_bf16(bf16 *y, const bf16 *x, int n) { accumulate(y, x, n); }

// narrow_weights rounds n weights to bf16, and behind them, from the next multiple of 8, the elements of a bias.
extern "C" __global__ void narrow_weights(bf16 *to, const float *from, const float *bias, int n, int biases) {
    long long i = 8ll * (blockIdx.x * blockDim.x + threadIdx.x);
    int weights = (n + 7) / 8 * 8;
    if (i >= weights) {
        to += weights, from = bias, i -= weights, n = biases;
    }
    if (i + 8 <= n) {
        put<8>(to, i, get<8>(from, i));
        return;
    }
    for (; i < n; i++) store(to, i, from[i]);
}

// gather_pixels copies the pixels of x [n, h, w, c] that a filter of one pixel meets, to [n, oh, ow, c] of n
// elements in all. scatter_pixels writes those to dx, with zeros between them, or adds them. c is a multiple
// of 4.
template <typename T>
DEVICE void gatherPixels(T *to, const T *x, int n, int h, int w, int c, int stride, int oh, int ow) {
    group(n, c, [=](long long i, int, bool) {
        u32 pixel = (u32)i / (u32)c, row = pixel / (u32)ow;
        u32 y = row % (u32)oh * stride, x0 = pixel % (u32)ow * stride;
        long long at = ((long long)(row / (u32)oh) * h + y) * w + x0;
        store4(to, i, load4(x, at * c + (u32)i % (u32)c));
    });
}
template <typename T>
DEVICE void scatterPixels(T *dx, const T *from, int n, int h, int w, int c, int stride, int oh, int ow,
                          int add) {
    group(n, c, [=](long long i, int, bool) {
        u32 pixel = (u32)i / (u32)c, row = pixel / (u32)w, x = pixel % (u32)w, y = row % (u32)h;
        bool isMet = y % stride == 0 && x % stride == 0 && y / stride < oh && x / stride < ow;
        if (add && !isMet) return;
        four v = {{0.f, 0.f, 0.f, 0.f}};
        if (isMet) {
            long long at = ((long long)(row / (u32)h) * oh + y / stride) * ow + x / stride;
            v = load4(from, at * c + (u32)i % (u32)c);
        }
        if (add) {
            four old = load4(dx, i);
            for (int j = 0; j < 4; j++) v.v[j] += old.v[j];
        }
        store4(dx, i, v);
    });
}
#define PIXELS(suffix, T)                                                                                     \
    extern "C" __global__ void gather_pixels##suffix(T *to, const T *x, int n, int h, int w, int c,           \
                                                     int stride, int oh, int ow, int) {                       \
        gatherPixels(to, x, n, h, w, c, stride, oh, ow);                                                      \
    }                                                                                                         \
    extern "C" __global__ void scatter_pixels##suffix(T *dx, const T *from, int n, int h, int w, int c,       \
                                                      int stride, int oh, int ow, int add) {                  \
        scatterPixels(dx, from, n, h, w, c, stride, oh, ow, add);                                             \
    }
PIXELS(_f32, float)
PIXELS(_bf16, bf16)
