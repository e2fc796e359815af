// The first convolution of a network as a product of matrices: a row for each pixel of y holds what the
// filters meet of x, their columns; see columns.go. Letters: N H W C K R S as in product.cu.
#include "base.cuh"

// Elements are copied as they are.
DEVICE u32 bitsOf(bf16 x) { return x.bits; }
DEVICE u32 bitsOf(float x) { return __float_as_uint(x); }
template <typename T> DEVICE uint4 packed(const u32 (&v)[16 / sizeof(T)]) {
    uint4 q;
    if constexpr (sizeof(T) == 4)
        q.x = v[0], q.y = v[1], q.z = v[2], q.w = v[3];
    else
        q.x = v[0] | v[1] << 16, q.y = v[2] | v[3] << 16, q.z = v[4] | v[5] << 16, q.w = v[6] | v[7] << 16;
    return q;
}

// columnsOf writes these rows, [N, OH, OW, D], where D is a multiple of 16 bytes and what exceeds R S C is 0.
// A block has a line of y, and a thread 16 bytes of every blockDim.y-th pixel. The lines of x that the filters
// meet, and the padding, lie in shared memory. Blocks behind the last line copy the filters w [R S C, K] to
// filled [D, K], with zeros behind them.
template <typename T>
DEVICE void columnsOf(T *to, float *filled, const T *x, const float *w, int lines, int height, int width, int c,
                      int r, int s, int k, int stride, int pad, int down, int across) {
    SHARED_ROOM(T, room);
    constexpr int V = 16 / sizeof(T), ATONCE = 5;
    int depth = blockDim.x * V, taps = r * s * c, thread = threadIdx.y * blockDim.x + threadIdx.x;
    int threads = blockDim.x * blockDim.y;
    if ((int)blockIdx.x >= lines) {
        int i = (blockIdx.x - lines) * threads + thread;
        if (i < depth * k) filled[i] = i < taps * k ? w[i] : 0.f;
        return;
    }
    int n = blockIdx.x / down, top = (blockIdx.x - n * down) * stride - pad;
    int size = width * c, edge = pad * c, line = size + 2 * edge;
    const T *first = x + ((long long)n * height + top) * size - edge;
    for (int i = thread; i < r * line; i += ATONCE * threads) {
        T v[ATONCE];
#pragma unroll
        for (int u = 0; u < ATONCE; u++) {
            int at = i + u * threads, row = at / line, column = at - row * line;
            bool isIn = row < r && top + row >= 0 && top + row < height;
            isIn = isIn && column >= edge && column < edge + size;
            v[u] = isIn ? first[(long long)row * size + column] : T{};
        }
#pragma unroll
        for (int u = 0; u < ATONCE; u++)
            if (i + u * threads < r * line) room[i + u * threads] = v[u];
    }
    __syncthreads();
    int offset[V]; // of an element of the first window; -1 behind the last one
#pragma unroll
    for (int j = 0; j < V; j++) {
        int i = threadIdx.x * V + j, row = i / (s * c);
        offset[j] = i < taps ? row * line + i - row * s * c : -1;
    }
    T *out = to + (long long)blockIdx.x * across * depth + threadIdx.x * V;
    for (int p = threadIdx.y; p < across; p += blockDim.y) {
        const T *window = room + p * stride * c;
        u32 v[V];
#pragma unroll
        for (int j = 0; j < V; j++) v[j] = offset[j] >= 0 ? bitsOf(window[offset[j]]) : 0u;
        *(uint4 *)(out + (long long)p * depth) = packed<T>(v);
    }
}

#define COLUMNS(name, T)                                                                                     \
    extern "C" __global__ void __launch_bounds__(256)                                                        \
        name(T *to, float *filled, const T *x, const float *w, int lines, int height, int width, int c,      \
             int r, int s, int k, int stride, int pad, int down, int across) {                               \
        columnsOf<T>(to, filled, x, w, lines, height, width, c, r, s, k, stride, pad, down, across);         \
    }
COLUMNS(columns_f32, float)
COLUMNS(columns_bf16, bf16)
