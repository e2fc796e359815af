// Pooling, alone and of a normalised map, and subsampling. Threads take channels and go over rows, which are
// the pixels of the larger or the smaller map or the windows; see the note of map.cuh.
#include "map.cuh"

// beats reports whether v takes the place of the maximum m so far: the first of equal values wins, and a NaN
// always does.
DEVICE bool beats(float v, float m) { return v > m || v != v; }

// pixel is a row of a map [n, height, width].
struct pixel {
    int n, h, w;
    DEVICE pixel(int row, int height, int width) {
        int line = row / width;
        w = row - line * width;
        n = line / height;
        h = line - n * height;
    }
};

// Note: pairs.
//
// Windows of 2x2 pixels, 2 apart and without padding, share no pixels. quad holds one, in scan order. Windows
// at the edge of a map with an odd size lack pixels; nothing is pooled from them, and their gradient is 0. A
// thread takes QUAD channels of either type: with more of them too few threads would find room.
#define QUAD 4
template <int V> struct quad {
    vec<V> x[4], dy;
    bool isWhole;
};

// pairs is the geometry of such a pooling: of maps [height, width] by windows [down, across] in each.
struct pairs { int height, width, down, across; };

// firstPixel returns the number of a window's first pixel, and has reports whether the map has its pixel k.
DEVICE long long firstPixel(const pairs &p, pixel at) {
    return ((long long)at.n * p.height + 2 * at.h) * p.width + 2 * at.w;
}
DEVICE bool has(const pairs &p, pixel at, int k) {
    return 2 * at.h + k / 2 < p.height && 2 * at.w + k % 2 < p.width;
}
DEVICE bool isWhole(const pairs &p, pixel at) { return has(p, at, 3); }

// pixelOf returns the first of the thread's elements of pixel k of a window that begins at pixel first.
template <int V> DEVICE long long pixelOf(const pairs &p, const span<V> &s, long long first, int k) {
    return (first + k / 2 * p.width + k % 2) * s.channels + s.c;
}

// readQuad reads a window of x, and dy if there is one, which has a row for each whole window.
template <int V, typename T>
DEVICE quad<V> readQuad(const pairs &p, const span<V> &s, int row, const T *x, const T *dy) {
    pixel at(row, p.down, p.across);
    long long first = firstPixel(p, at);
    quad<V> q = {};
    q.isWhole = isWhole(p, at);
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (has(p, at, k)) q.x[k] = get<V>(x, pixelOf(p, s, first, k));
    if (dy && q.isWhole) {
        int out = (at.n * (p.height / 2) + at.h) * (p.width / 2) + at.w;
        q.dy = get<V>(dy, s.at(out));
    }
    return q;
}

// writeQuad writes the window's gradient.
template <int V, typename T>
DEVICE void writeQuad(const pairs &p, const span<V> &s, int row, T *dx, const vec<V> (&d)[4]) {
    pixel at(row, p.down, p.across);
    long long first = firstPixel(p, at);
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (has(p, at, k)) put<V>(dx, pixelOf(p, s, first, k), d[k]);
}

// normPoolOf writes the maximum of the normalised and rectified pixels of each window.
template <typename T, int V>
DEVICE void normPoolOf(T *y, const T *x, const float *mean, const float *variance, const float *gamma,
                       const float *beta, int rows, int channels, pairs p, float eps) {
    sweep<V> s(rows, channels);
    normalisation<V> n(s, mean, variance, gamma, beta, eps);
    auto read = [&](int row) { return readQuad<V, T>(p, s, row, x, nullptr); };
    overRows<2>(s, read, [&](int row, const quad<V> &in) {
        vec<V> out;
#pragma unroll
        for (int k = 0; k < V; k++) {
            float m = n.of(k, in.x[0].v[k]);
#pragma unroll
            for (int i = 1; i < 4; i++) {
                float v = n.of(k, in.x[i].v[k]);
                if (beats(v, m)) m = v;
            }
            out.v[k] = rectify(m);
        }
        put<V>(y, s.at(row), out);
    });
}

#define NORM_POOL(name, T)                                                                                   \
    extern "C" __global__ void __launch_bounds__(256)                                                        \
        name(T *y, const T *x, const float *mean, const float *variance, const float *gamma,                 \
             const float *beta, int rows, int channels, int width, int h, int w, int down, int across,       \
             float eps) {                                                                                    \
        pairs p = {h, w, down, across};                                                                      \
        if (width > 1)                                                                                       \
            normPoolOf<T, QUAD>(y, x, mean, variance, gamma, beta, rows, channels, p, eps);                  \
        else                                                                                                 \
            normPoolOf<T, 1>(y, x, mean, variance, gamma, beta, rows, channels, p, eps);                     \
    }
NORM_POOL(normpool_f32, float)
NORM_POOL(normpool_bf16, bf16)

// winner finds the pixel of the maximum of a normalised window, for channel k of the thread. It returns the
// gradient that the ReLU lets through, and the pixel's place and value.
template <int V>
DEVICE float winner(const quad<V> &in, const normalisation<V> &n, int k, int &place, float &x) {
    float m = n.of(k, in.x[0].v[k]);
    place = 0, x = in.x[0].v[k];
#pragma unroll
    for (int i = 1; i < 4; i++) {
        float v = n.of(k, in.x[i].v[k]);
        if (beats(v, m)) m = v, place = i, x = in.x[i].v[k];
    }
    return in.isWhole ? gate(in.dy.v[k], m) : 0.f;
}

// normPoolSumsOf sums the gradient g of the normalised map, and g*(x-mean), over the windows of a block, to
// partial [blocks, 2, channels].
template <typename T, int V>
DEVICE void normPoolSumsOf(float *partial, const T *dy, const T *x, const float *mean, const float *variance,
                           const float *gamma, const float *beta, int rows, int channels, pairs p,
                           float eps) {
    SHARED_ROOM(float, room);
    sweep<V, true> s(rows, channels);
    normalisation<V> n(s, mean, variance, gamma, beta, eps);
    float sums[2 * V] = {};
    auto read = [&](int row) { return readQuad<V, T>(p, s, s.turned(row), x, dy); };
    overRows<2>(s, read, [&](int, const quad<V> &in) {
#pragma unroll
        for (int k = 0; k < V; k++) {
            int place;
            float xm, d = winner(in, n, k, place, xm);
            sums[k] += d;
            sums[V + k] += d * (xm - n.mean[k]);
        }
    });
    addLanes(sums, room);
    putPartial<V, 2>(partial, s, sums);
}

#define NORM_POOL_SUMS(name, T)                                                                              \
    extern "C" __global__ void __launch_bounds__(256, 3)                                                     \
        name(float *partial, const T *dy, const T *x, const float *mean, const float *variance,              \
             const float *gamma, const float *beta, int rows, int channels, int width, int h, int w,         \
             int down, int across, float eps) {                                                              \
        pairs p = {h, w, down, across};                                                                      \
        if (width > 1)                                                                                       \
            normPoolSumsOf<T, QUAD>(partial, dy, x, mean, variance, gamma, beta, rows, channels, p, eps);    \
        else                                                                                                 \
            normPoolSumsOf<T, 1>(partial, dy, x, mean, variance, gamma, beta, rows, channels, p, eps);       \
    }
NORM_POOL_SUMS(normpoolsums_f32, float)
NORM_POOL_SUMS(normpoolsums_bf16, bf16)

// normPoolGradOf is normGradOf of norm.cu for the gradient that the pooling passes on. Rows are windows,
// those at the edges that are not whole too. dx may be x.
template <typename T, int V>
DEVICE void normPoolGradOf(T *dx, float *dgamma, float *dbeta, const T *dy, const T *x, const float *mean,
                           const float *variance, const float *gamma, const float *beta, const float *sums,
                           int rows, int channels, pairs p, float eps) {
    sweep<V> s(rows, channels);
    normalisation<V> n(s, mean, variance, gamma, beta, eps);
    int pixels = rows / (p.down * p.across) * p.height * p.width;
    gradients<V> d(s, variance, gamma, eps, sums, dgamma, dbeta, pixels);
    auto read = [&](int row) { return readQuad<V, T>(p, s, row, x, dy); };
    overRows<1>(s, read, [&](int row, const quad<V> &in) {
        vec<V> out[4];
#pragma unroll
        for (int k = 0; k < V; k++) {
            int place;
            float xm, g = winner(in, n, k, place, xm);
#pragma unroll
            for (int i = 0; i < 4; i++) out[i].v[k] = d.of(n, k, i == place ? g : 0.f, in.x[i].v[k]);
        }
        writeQuad(p, s, row, dx, out);
    });
}

#define NORM_POOL_GRAD(name, T)                                                                              \
    extern "C" __global__ void __launch_bounds__(256, 3)                                                     \
        name(T *dx, float *dgamma, float *dbeta, const T *dy, const T *x, const float *mean,                 \
             const float *variance, const float *gamma, const float *beta, const float *sums, int rows,      \
             int channels, int width, int h, int w, int down, int across, float eps) {                       \
        pairs p = {h, w, down, across};                                                                      \
        if (width > 1)                                                                                       \
            normPoolGradOf<T, QUAD>(dx, dgamma, dbeta, dy, x, mean, variance, gamma, beta, sums, rows,       \
                                    channels, p, eps);                                                       \
        else                                                                                                 \
            normPoolGradOf<T, 1>(dx, dgamma, dbeta, dy, x, mean, variance, gamma, beta, sums, rows,          \
                                 channels, p, eps);                                                          \
    }
NORM_POOL_GRAD(normpoolgrad_f32, float)
NORM_POOL_GRAD(normpoolgrad_bf16, bf16)

// pairGradOf writes the gradient of a pooling by pairs; rows are windows, as above.
template <typename T, int V>
DEVICE void pairGradOf(T *dx, const T *dy, const T *x, int rows, int channels, pairs p, int relu) {
    sweep<V> s(rows, channels);
    auto read = [&](int row) { return readQuad<V, T>(p, s, row, x, dy); };
    overRows<2>(s, read, [&](int row, const quad<V> &in) {
        vec<V> out[4];
#pragma unroll
        for (int k = 0; k < V; k++) {
            float m = in.x[0].v[k];
            int place = 0;
#pragma unroll
            for (int i = 1; i < 4; i++)
                if (beats(in.x[i].v[k], m)) m = in.x[i].v[k], place = i;
            float g = in.isWhole ? in.dy.v[k] : 0.f;
            if (relu) g = gate(g, m);
#pragma unroll
            for (int i = 0; i < 4; i++) out[i].v[k] = i == place ? g : 0.f;
        }
        writeQuad(p, s, row, dx, out);
    });
}

#define PAIR_GRAD(name, T)                                                                                   \
    extern "C" __global__ void __launch_bounds__(256)                                                        \
        name(T *dx, const T *dy, const T *x, int rows, int channels, int width, int h, int w, int down,      \
             int across, int relu) {                                                                         \
        pairs p = {h, w, down, across};                                                                      \
        if (width > 1)                                                                                       \
            pairGradOf<T, QUAD>(dx, dy, x, rows, channels, p, relu);                                         \
        else                                                                                                 \
            pairGradOf<T, 1>(dx, dy, x, rows, channels, p, relu);                                            \
    }
PAIR_GRAD(pairgrad_f32, float)
PAIR_GRAD(pairgrad_bf16, bf16)

// Note: windows.
//
// The gradient of a pooling whose windows overlap takes two passes: poolplace finds the maximum of each
// window, and poolgather adds up for each pixel the gradients of the windows whose maximum it is, in scan
// order. In between, the place of the maximum among the pixels of its window is kept, in 16 bits.

#define NOWHERE 0xffffu // the place if a ReLU lets no gradient through

// windows is the geometry of a pooling: of maps [height, width] to [down, across].
struct windows { int height, width, down, across, size, stride, pad; };

// pool finds the maximum of a window, and its place in it. SIZE is the size if known, or 0: then all pixels are
// read at once, and beyond the edge the next one of the window that exists, which does not count.
template <int SIZE, int V, typename T>
DEVICE void pool(const T *x, const windows &p, const span<V> &s, int row, vec<V> &m, u32 (&place)[V]) {
    const int size = SIZE ? SIZE : p.size, ATONCE = SIZE ? SIZE * SIZE : 1;
    pixel at(row, p.down, p.across);
    int h = at.h * p.stride - p.pad, w = at.w * p.stride - p.pad;
#pragma unroll
    for (int k = 0; k < V; k++) {
        m.v[k] = -INFINITE;
        place[k] = max(-h, 0) * size + max(-w, 0); // the first pixel in the map
    }
    for (int first = 0; first < size * size; first += ATONCE) {
        vec<V> in[ATONCE];
        bool isIn[ATONCE];
#pragma unroll
        for (int u = 0; u < ATONCE; u++) {
            int y = h + (first + u) / size, z = w + (first + u) % size;
            int near = min(max(y, 0), p.height - 1), next = min(max(z, 0), p.width - 1);
            isIn[u] = y == near && z == next;
            in[u] = get<V>(x, (((long long)at.n * p.height + near) * p.width + next) * s.channels + s.c);
        }
#pragma unroll
        for (int u = 0; u < ATONCE; u++) {
#pragma unroll
            for (int k = 0; k < V; k++)
                if (isIn[u] && beats(in[u].v[k], m.v[k])) m.v[k] = in[u].v[k], place[k] = first + u;
        }
    }
}

// maxPoolOf writes the maximum of each window.
template <typename T, int V, int SIZE>
DEVICE void maxPoolOf(T *y, const T *x, int rows, int channels, windows p) {
    sweep<V, true> s(rows, channels);
    for (int row = s.first; row < s.end; row += s.step) {
        vec<V> m;
        u32 place[V];
        pool<SIZE>(x, p, s, s.turned(row), m, place);
        put<V>(y, s.at(row), m);
    }
}

// poolPlaceOf writes the place of the maximum of each window. relu is gate's rule.
template <typename T, int V, int SIZE>
DEVICE void poolPlaceOf(unsigned short *places, const T *x, int rows, int channels, windows p, int relu) {
    sweep<V, true> s(rows, channels);
    for (int row = s.first; row < s.end; row += s.step) {
        vec<V> m;
        u32 place[V];
        pool<SIZE>(x, p, s, s.turned(row), m, place);
#pragma unroll
        for (int k = 0; k < V; k++)
            if (relu && m.v[k] <= 0.f) place[k] = NOWHERE;
        long long i = s.at(row);
        if constexpr (V == 1) {
            places[i] = place[0];
        } else {
            u32 *out = (u32 *)(places + i);
#pragma unroll
            for (int k = 0; k < V; k += 2) out[k / 2] = place[k] | place[k + 1] << 16;
        }
    }
}

// OF_SIZE calls a template of kernels for the sizes of windows that are common.
#define OF_SIZE(call, T, V, ...)                                                                             \
    if (p.size == 2)                                                                                         \
        call<T, V, 2>(__VA_ARGS__);                                                                          \
    else if (p.size == 3)                                                                                    \
        call<T, V, 3>(__VA_ARGS__);                                                                          \
    else                                                                                                     \
        call<T, V, 0>(__VA_ARGS__);

#define MAX_POOL(name, T)                                                                                    \
    extern "C" __global__ void __launch_bounds__(256, 4)                                                     \
        name(T *y, const T *x, int rows, int channels, int width, int h, int w, int down, int across,        \
             int size, int stride, int pad) {                                                                \
        windows p = {h, w, down, across, size, stride, pad};                                                 \
        if (width > 1) {                                                                                     \
            OF_SIZE(maxPoolOf, T, WIDE(T), y, x, rows, channels, p)                                          \
        } else {                                                                                             \
            OF_SIZE(maxPoolOf, T, 1, y, x, rows, channels, p)                                                \
        }                                                                                                    \
    }
MAX_POOL(maxpool_f32, float)
MAX_POOL(maxpool_bf16, bf16)

#define POOL_PLACE(name, T)                                                                                  \
    extern "C" __global__ void __launch_bounds__(256, 4)                                                     \
        name(unsigned short *places, const T *x, int rows, int channels, int width, int h, int w, int down,  \
             int across, int size, int stride, int pad, int relu) {                                          \
        windows p = {h, w, down, across, size, stride, pad};                                                 \
        if (width > 1) {                                                                                     \
            OF_SIZE(poolPlaceOf, T, WIDE(T), places, x, rows, channels, p, relu)                             \
        } else {                                                                                             \
            OF_SIZE(poolPlaceOf, T, 1, places, x, rows, channels, p, relu)                                   \
        }                                                                                                    \
    }
POOL_PLACE(poolplace_f32, float)
POOL_PLACE(poolplace_bf16, bf16)

// poolGatherOf writes the gradient of each pixel.
template <typename T, int V>
DEVICE void poolGatherOf(T *dx, const T *dy, const unsigned short *places, int rows, int channels, int length,
                         windows p) {
    span<V> s(rows, channels, length);
    for (int row = s.first; row < s.end; row += s.step) {
        pixel at(row, p.height, p.width);
        int h = at.h + p.pad, w = at.w + p.pad;
        int top = h < p.size ? 0 : (h - p.size) / p.stride + 1, low = min(h / p.stride, p.down - 1);
        int left = w < p.size ? 0 : (w - p.size) / p.stride + 1, right = min(w / p.stride, p.across - 1);
        vec<V> out = {};
        for (int i = top; i <= low; i++)
            for (int j = left; j <= right; j++) {
                u32 place = (h - i * p.stride) * p.size + w - j * p.stride;
                long long from = s.at((at.n * p.down + i) * p.across + j);
                vec<V> d = get<V>(dy, from);
                if constexpr (V == 1) {
                    if (places[from] == place) out.v[0] += d.v[0];
                } else {
                    const u32 *two = (const u32 *)(places + from);
#pragma unroll
                    for (int k = 0; k < V; k++)
                        if ((two[k / 2] >> 16 * (k % 2) & 0xffffu) == place) out.v[k] += d.v[k];
                }
            }
        put<V>(dx, s.at(row), out);
    }
}

#define POOL_GATHER(name, T)                                                                                 \
    extern "C" __global__ void __launch_bounds__(256)                                                        \
        name(T *dx, const T *dy, const unsigned short *places, int rows, int channels, int width,            \
             int length, int h, int w, int down, int across, int size, int stride, int pad) {                \
        windows p = {h, w, down, across, size, stride, pad};                                                 \
        if (width > 1)                                                                                       \
            poolGatherOf<T, WIDE(T)>(dx, dy, places, rows, channels, length, p);                             \
        else                                                                                                 \
            poolGatherOf<T, 1>(dx, dy, places, rows, channels, length, p);                                   \
    }
POOL_GATHER(poolgather_f32, float)
POOL_GATHER(poolgather_bf16, bf16)

// A window that overlaps the next by one pixel: 3x3, 2 apart. Quads of pixels, 2 apart from the corner of the
// padding on, lie in the same four windows or fewer.
template <typename T, int V>
DEVICE void poolQuadsOf(T *dx, const T *dy, const unsigned short *places, int rows, int channels, windows p) {
    sweep<V> s(rows, channels);
    const int SIZE = 3;
    int begin = p.pad / 2, quadsDown = (p.height - 1 + p.pad) / 2 - begin + 1;
    int quadsAcross = (p.width - 1 + p.pad) / 2 - begin + 1;
    for (int row = s.first; row < s.end; row += s.step) {
        pixel at(row, quadsDown, quadsAcross);
        int a = begin + at.h, b = begin + at.w;
        vec<V> d[4];
        u32 place[4][V > 1 ? V / 2 : 1];
#pragma unroll
        for (int i = 0; i < 4; i++) { // windows a-1, a by b-1, b
            int y = a - 1 + i / 2, x = b - 1 + i % 2;
            bool isIn = y >= 0 && y < p.down && x >= 0 && x < p.across;
            long long from = s.at((at.n * p.down + y) * p.across + x);
            d[i] = vec<V>{};
            if (isIn) d[i] = get<V>(dy, from);
#pragma unroll
            for (int k = 0; k < (V > 1 ? V / 2 : 1); k++) place[i][k] = NOWHERE * 0x10001u;
            if (!isIn) continue;
            if constexpr (V == 1) {
                place[i][0] = places[from];
            } else if constexpr (V == 4) {
                uint2 q = *(const uint2 *)(places + from);
                place[i][0] = q.x, place[i][1] = q.y;
            } else {
                uint4 q = *(const uint4 *)(places + from);
                place[i][0] = q.x, place[i][1] = q.y, place[i][2] = q.z, place[i][3] = q.w;
            }
        }
#pragma unroll
        for (int q = 0; q < 4; q++) {
            int h = 2 * a + q / 2 - p.pad, w = 2 * b + q % 2 - p.pad;
            if (h < 0 || h >= p.height || w < 0 || w >= p.width) continue;
            vec<V> out = {};
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int y = 2 + q / 2 - i / 2 * 2, x = 2 + q % 2 - i % 2 * 2; // in the window
                if (y >= SIZE || x >= SIZE) continue;
#pragma unroll
                for (int k = 0; k < V; k++)
                    if ((place[i][k / 2] >> 16 * (k % 2) & 0xffffu) == y * SIZE + x) out.v[k] += d[i].v[k];
            }
            put<V>(dx, s.at((at.n * p.height + h) * p.width + w), out);
        }
    }
}

#define POOL_QUADS(name, T)                                                                                  \
    extern "C" __global__ void __launch_bounds__(256, 3)                                                     \
        name(T *dx, const T *dy, const unsigned short *places, int rows, int channels, int width, int h,     \
             int w, int down, int across, int size, int stride, int pad) {                                   \
        windows p = {h, w, down, across, size, stride, pad};                                                 \
        if (width > 1)                                                                                       \
            poolQuadsOf<T, WIDE(T)>(dx, dy, places, rows, channels, p);                                      \
        else                                                                                                 \
            poolQuadsOf<T, 1>(dx, dy, places, rows, channels, p);                                            \
    }
POOL_QUADS(poolquads_f32, float)
POOL_QUADS(poolquads_bf16, bf16)

// avgPoolGradOf writes dy [n, channels] times factor to each pixel. A block has the pixels of one map.
template <typename T, int V>
DEVICE void avgPoolGradOf(T *dx, const float *dy, int rows, int channels, int length, float factor) {
    span<V> s(rows, channels, length);
    if (!s.isOn) return;
    vec<V> d;
#pragma unroll
    for (int k = 0; k < V; k++) d.v[k] = dy[s.at(blockIdx.x) + k] * factor;
    for (int row = s.first; row < s.end; row += s.step) put<V>(dx, s.at(row), d);
}

#define AVG_POOL_GRAD(name, T)                                                                               \
    extern "C" __global__ void __launch_bounds__(256)                                                        \
        name(T *dx, const float *dy, int rows, int channels, int width, int length, float factor) {          \
        if (width > 1)                                                                                       \
            avgPoolGradOf<T, WIDE(T)>(dx, dy, rows, channels, length, factor);                               \
        else                                                                                                 \
            avgPoolGradOf<T, 1>(dx, dy, rows, channels, length, factor);                                     \
    }
AVG_POOL_GRAD(avgpoolgrad_f32, float)
AVG_POOL_GRAD(avgpoolgrad_bf16, bf16)

// sampling is the geometry of subsampling maps [height, width, channels] to [down, across, ...].
struct sampling { int height, width, channels, down, across, stride, before; };

// subsampleOf writes every stride-th pixel, with zeros in the channels around its own. Rows are pixels of y.
template <typename T, int V>
DEVICE void subsampleOf(T *y, const T *x, int rows, int channels, int length, sampling p) {
    span<V> s(rows, channels, length);
    int c = s.c - p.before;
    bool isOwn = c >= 0 && c < p.channels;
    for (int row = s.first; row < s.end; row += s.step) {
        pixel at(row, p.down, p.across);
        long long from = ((long long)at.n * p.height + at.h * p.stride) * p.width + at.w * p.stride;
        vec<V> v = {};
        if (isOwn) v = get<V>(x, from * p.channels + c);
        put<V>(y, s.at(row), v);
    }
}

// subsampleGradOf is the adjoint. Rows are pixels of dx; channels is the number of those of dy.
template <typename T, int V>
DEVICE void subsampleGradOf(T *dx, const T *dy, int rows, int channels, int length, sampling p) {
    span<V> s(rows, p.channels, length);
    for (int row = s.first; row < s.end; row += s.step) {
        pixel at(row, p.height, p.width);
        int h = at.h / p.stride, w = at.w / p.stride;
        vec<V> v = {};
        if (h * p.stride == at.h && w * p.stride == at.w) {
            long long from = ((long long)at.n * p.down + h) * p.across + w;
            v = get<V>(dy, from * channels + p.before + s.c);
        }
        put<V>(dx, s.at(row), v);
    }
}

#define SUBSAMPLE(name, T, call)                                                                             \
    extern "C" __global__ void __launch_bounds__(256)                                                        \
        name(T *out, const T *in, int rows, int channels, int width, int length, int h, int w, int own,      \
             int down, int across, int stride, int before) {                                                 \
        sampling p = {h, w, own, down, across, stride, before};                                              \
        if (width > 1)                                                                                       \
            call<T, WIDE(T)>(out, in, rows, channels, length, p);                                            \
        else                                                                                                 \
            call<T, 1>(out, in, rows, channels, length, p);                                                  \
    }
SUBSAMPLE(subsample_f32, float, subsampleOf)
SUBSAMPLE(subsample_bf16, bf16, subsampleOf)
SUBSAMPLE(subsamplegrad_f32, float, subsampleGradOf)
SUBSAMPLE(subsamplegrad_bf16, bf16, subsampleGradOf)
