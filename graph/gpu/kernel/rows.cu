// Kernels of rows of features: layer norm, dropout, the first tokens of texts.
//
// Where cols is a multiple of 4 and at most 1024, layer norm keeps a row in the registers of a warp: lane l has
// the vectors of 4 columns that begin at column 4(l + 32j), j < N. Kernels that end in _any take any number of
// columns. Results may lie where an operand does: y at x, the sum at a, dx at dy.
#include "drop.cuh"
#include "map.cuh"

// stored returns x as a map of the type of p holds it.
DEVICE float stored(const float *, float x) { return x; }
DEVICE float stored(const bf16 *, float x) { return widen(narrow(x)); }

// texts says which rows belong to which sample; see sampleOf.
struct texts {
    const int *starts;
    int samples, rowsEach;
};

// sampleOfWarp is sampleOf for a whole warp, all of which asks for the same row. Its lanes look at 32 starts at a
// time: one after another they would take a round to memory each.
DEVICE sampleRow sampleOfWarp(texts t, int i) {
    if (!t.starts) return {i / t.rowsEach, i % t.rowsEach};
    int lane = threadIdx.x & 31, sample = -1;
    for (int first = 0; first < t.samples; first += 32) {
        int start = first + lane < t.samples ? t.starts[first + lane] : 0x7fffffff;
        int below = __popc(__ballot_sync(WHOLE_WARP, start <= i));
        sample += below;
        if (below < 32) break;
    }
    return {sample, i - t.starts[sample]};
}

// dropping draws the factors of one row; keys is null if nothing is dropped. A warp has the same row.
struct dropping {
    u64 key;
    int row, limit;
    float scale;
    bool isOn;

    DEVICE dropping(const u64 *keys, texts t, int i, int limit, float scale) : limit(limit), scale(scale) {
        isOn = keys != 0, key = 0, row = 0;
        if (!isOn) return;
        sampleRow s = sampleOfWarp(t, i);
        key = keys[s.sample], row = s.row;
    }
    DEVICE u64 word(int column) const { return isOn ? dropWord(key, 0, row, column >> 2) : 0; }
    DEVICE float of(u64 word, int j) const { return isOn ? dropOf(word, j, limit, scale) : 1.f; }
};

// layerNorm computes a row per warp: s = x + a*factor, or x if a is null, y and the row's mean and 1/deviation.
template <int N, typename T>
DEVICE void layerNorm(T *y, T *sum, float *moments, const T *x, const T *a, const float *gamma, const float *beta,
                      const u64 *keys, texts t, int rows, int cols, float eps, int limit, float scale) {
    int lane = threadIdx.x & 31, row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (row >= rows) return;
    long long base = (long long)row * cols;
    four s[N];
#pragma unroll
    for (int j = 0; j < N; j++) {
        int c = 4 * (lane + 32 * j);
        s[j] = c < cols ? load4(x, base + c) : four{{0.f, 0.f, 0.f, 0.f}};
    }
    if (a) {
        four b[N];
#pragma unroll
        for (int j = 0; j < N; j++) {
            int c = 4 * (lane + 32 * j);
            if (c < cols) b[j] = load4(a, base + c);
        }
        dropping d(keys, t, row, limit, scale);
#pragma unroll
        for (int j = 0; j < N; j++) {
            int c = 4 * (lane + 32 * j);
            if (c < cols) {
                u64 word = d.word(c);
                for (int k = 0; k < 4; k++) s[j].v[k] = stored(x, s[j].v[k] + b[j].v[k] * d.of(word, k));
                store4(sum, base + c, s[j]);
            }
        }
    }
    float total = 0.f, squares = 0.f;
#pragma unroll
    for (int j = 0; j < N; j++) total += (s[j].v[0] + s[j].v[1]) + (s[j].v[2] + s[j].v[3]);
    float mean = warpSum(total) / cols;
#pragma unroll
    for (int j = 0; j < N; j++) {
        if (4 * (lane + 32 * j) < cols) {
            for (int k = 0; k < 4; k++) squares += (s[j].v[k] - mean) * (s[j].v[k] - mean);
        }
    }
    float inverse = 1.f / sqrtf(warpSum(squares) / cols + eps);
    if (lane == 0) moments[2 * row] = mean, moments[2 * row + 1] = inverse;
#pragma unroll
    for (int j = 0; j < N; j++) {
        int c = 4 * (lane + 32 * j);
        if (c < cols) {
            four g = load4(gamma, c), b = load4(beta, c);
            for (int k = 0; k < 4; k++) s[j].v[k] = (s[j].v[k] - mean) * inverse * g.v[k] + b.v[k];
            store4(y, base + c, s[j]);
        }
    }
}

// layerNormAny has a block per row.
template <typename T>
DEVICE void layerNormAny(T *y, T *sum, float *moments, const T *x, const T *a, const float *gamma,
                         const float *beta, const u64 *keys, texts t, int rows, int cols, float eps, int limit,
                         float scale) {
    __shared__ float room[32];
    int row = blockIdx.x;
    if (row >= rows) return;
    long long base = (long long)row * cols;
    const T *s = x;
    float total = 0.f, squares = 0.f;
    if (a) {
        dropping d(keys, t, row, limit, scale);
        for (int c = threadIdx.x; c < cols; c += blockDim.x)
            store(sum, base + c, load(x, base + c) + load(a, base + c) * d.of(d.word(c), c & 3));
        s = sum;
    }
    for (int c = threadIdx.x; c < cols; c += blockDim.x) total += load(s, base + c);
    float mean = blockSum(total, room) / cols;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        float v = load(s, base + c) - mean;
        squares += v * v;
    }
    float inverse = 1.f / sqrtf(blockSum(squares, room) / cols + eps);
    if (threadIdx.x == 0) moments[2 * row] = mean, moments[2 * row + 1] = inverse;
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        store(y, base + c, (load(s, base + c) - mean) * inverse * gamma[c] + beta[c]);
}

// layerNormBackward takes rows of warps one after another and leaves the block's sums for gamma and beta in
// partial [blocks, 2, cols]. da is dx*factor, unless it is null.
template <int N, typename T>
DEVICE void layerNormBackward(T *dx, T *da, float *partial, const T *dy, const T *s, const float *moments,
                              const float *gamma, const u64 *keys, texts t, int rows, int cols, int limit,
                              float scale) {
    SHARED_ROOM(float, room); // [warps, cols]
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    four dgamma[N], dbeta[N];
#pragma unroll
    for (int j = 0; j < N; j++) dgamma[j] = dbeta[j] = four{{0.f, 0.f, 0.f, 0.f}};
    for (int row = blockIdx.x * warps + warp; row < rows; row += gridDim.x * warps) {
        long long base = (long long)row * cols;
        four d[N], x[N];
#pragma unroll
        for (int j = 0; j < N; j++) {
            int c = 4 * (lane + 32 * j);
            d[j] = x[j] = four{{0.f, 0.f, 0.f, 0.f}};
            if (c < cols) d[j] = load4(dy, base + c), x[j] = load4(s, base + c);
        }
        float mean = moments[2 * row], inverse = moments[2 * row + 1], sum = 0.f, product = 0.f;
        dropping drop(da ? keys : 0, t, row, limit, scale);
#pragma unroll
        for (int j = 0; j < N; j++) {
            int c = 4 * (lane + 32 * j);
            if (c < cols) {
                four g = load4(gamma, c);
                for (int k = 0; k < 4; k++) {
                    float xh = x[j].v[k] = (x[j].v[k] - mean) * inverse, v = d[j].v[k];
                    dgamma[j].v[k] += v * xh;
                    dbeta[j].v[k] += v;
                    d[j].v[k] = v * g.v[k];
                    sum += d[j].v[k];
                    product += d[j].v[k] * xh;
                }
            }
        }
        sum = warpSum(sum) / cols, product = warpSum(product) / cols;
#pragma unroll
        for (int j = 0; j < N; j++) {
            int c = 4 * (lane + 32 * j);
            if (c < cols) {
                for (int k = 0; k < 4; k++) d[j].v[k] = (d[j].v[k] - sum - x[j].v[k] * product) * inverse;
                store4(dx, base + c, d[j]);
                if (da) {
                    u64 word = drop.word(c);
                    for (int k = 0; k < 4; k++) d[j].v[k] *= drop.of(word, k);
                    store4(da, base + c, d[j]);
                }
            }
        }
    }
    for (int part = 0; part < 2; part++) { // those of gamma, then those of beta
        __syncthreads();
#pragma unroll
        for (int j = 0; j < N; j++) {
            int c = 4 * (lane + 32 * j);
            if (c < cols) store4(room, warp * cols + c, part ? dbeta[j] : dgamma[j]);
        }
        __syncthreads();
        for (int c = threadIdx.x; c < cols; c += blockDim.x) {
            float sum = room[c];
            for (int w = 1; w < warps; w++) sum += room[w * cols + c];
            partial[(2ll * blockIdx.x + part) * cols + c] = sum;
        }
    }
}

// layerNormColumns leaves the sums over the rows of a block, a column per thread, in partial [blocks, 2, cols].
template <typename T>
DEVICE void layerNormColumns(float *partial, const T *dy, const T *s, const float *moments, int rows, int cols) {
    int c = blockIdx.y * blockDim.x + threadIdx.x;
    if (c >= cols) return;
    float dgamma = 0.f, dbeta = 0.f;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        float d = load(dy, (long long)row * cols + c), x = load(s, (long long)row * cols + c);
        dgamma += d * ((x - moments[2 * row]) * moments[2 * row + 1]);
        dbeta += d;
    }
    partial[2ll * blockIdx.x * cols + c] = dgamma;
    partial[(2ll * blockIdx.x + 1) * cols + c] = dbeta;
}

// layerNormGradAny has a block per row.
template <typename T>
DEVICE void layerNormGradAny(T *dx, T *da, const T *dy, const T *s, const float *moments, const float *gamma,
                             const u64 *keys, texts t, int rows, int cols, int limit, float scale) {
    __shared__ float room[32];
    int row = blockIdx.x;
    if (row >= rows) return;
    long long base = (long long)row * cols;
    float mean = moments[2 * row], inverse = moments[2 * row + 1], sum = 0.f, product = 0.f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        float g = load(dy, base + c) * gamma[c];
        sum += g;
        product += g * ((load(s, base + c) - mean) * inverse);
    }
    sum = blockSum(sum, room) / cols;
    product = blockSum(product, room) / cols;
    dropping drop(da ? keys : 0, t, row, limit, scale);
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        float xh = (load(s, base + c) - mean) * inverse;
        float d = (load(dy, base + c) * gamma[c] - sum - xh * product) * inverse;
        store(dx, base + c, d);
        if (da) store(da, base + c, d * drop.of(drop.word(c), c & 3));
    }
}

#define FORWARD_KERNEL(name, T, blocks, call)                                                                      \
    extern "C" __global__ void __launch_bounds__(256, blocks)                                                      \
        name(T *y, T *sum, float *moments, const T *x, const T *a, const float *gamma, const float *beta,          \
             const int *starts, const u64 *keys, int rows, int cols, float eps, int samples, int rowsEach,         \
             int limit, float scale) {                                                                             \
        call(y, sum, moments, x, a, gamma, beta, keys, texts{starts, samples, rowsEach}, rows, cols, eps, limit,   \
             scale);                                                                                               \
    }
#define BACKWARD_KERNEL(name, T, call)                                                                             \
    extern "C" __global__ void __launch_bounds__(256)                                                              \
        name(T *dx, T *da, float *partial, const T *dy, const T *s, const float *moments, const float *gamma,      \
             const int *starts, const u64 *keys, int rows, int cols, int samples, int rowsEach, int limit,         \
             float scale) {                                                                                        \
        call(dx, da, partial, dy, s, moments, gamma, keys, texts{starts, samples, rowsEach}, rows, cols, limit,    \
             scale);                                                                                               \
    }
#define ROW_KERNELS(N)                                                                                             \
    FORWARD_KERNEL(layernorm_##N##_f32, float, N > 6 ? 3 : 4, layerNorm<N>)                                        \
    FORWARD_KERNEL(layernorm_##N##_bf16, bf16, N > 6 ? 3 : 4, layerNorm<N>)                                        \
    BACKWARD_KERNEL(layernorm_backward_##N##_f32, float, layerNormBackward<N>)                                     \
    BACKWARD_KERNEL(layernorm_backward_##N##_bf16, bf16, layerNormBackward<N>)
ROW_KERNELS(1)
ROW_KERNELS(2)
ROW_KERNELS(3)
ROW_KERNELS(4)
ROW_KERNELS(6)
ROW_KERNELS(8)
FORWARD_KERNEL(layernorm_any_f32, float, 4, layerNormAny)
FORWARD_KERNEL(layernorm_any_bf16, bf16, 4, layerNormAny)

#define ANY_KERNELS(suffix, T)                                                                                     \
    extern "C" __global__ void layernorm_columns##suffix(float *partial, const T *dy, const T *s,                  \
                                                         const float *moments, int rows, int cols) {               \
        layerNormColumns(partial, dy, s, moments, rows, cols);                                                     \
    }                                                                                                              \
    extern "C" __global__ void __launch_bounds__(256)                                                              \
        layernorm_grad_any##suffix(T *dx, T *da, const T *dy, const T *s, const float *moments,                    \
                                   const float *gamma, const int *starts, const u64 *keys, int rows, int cols,     \
                                   int samples, int rowsEach, int limit, float scale) {                            \
        layerNormGradAny(dx, da, dy, s, moments, gamma, keys, texts{starts, samples, rowsEach}, rows, cols, limit, \
                         scale);                                                                                   \
    }
ANY_KERNELS(_f32, float)
ANY_KERNELS(_bf16, bf16)

// layernorm_merge adds up partial [blocks, 2, cols]: 32 columns per block, whose 32 warps share the rows.
extern "C" __global__ void layernorm_merge(float *dgamma, float *dbeta, const float *partial, int blocks, int cols) {
    __shared__ float room[32][33];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, c = blockIdx.x * 32 + lane;
    float sum = 0.f;
    if (c < 2 * cols) {
#pragma unroll 8
        for (int b = warp; b < blocks; b += 32) sum += partial[2ll * b * cols + c];
    }
    room[warp][lane] = sum;
    __syncthreads();
    sum = warpSum(room[lane][warp]); // of column number warp
    c = blockIdx.x * 32 + warp;
    if (lane > 0 || c >= 2 * cols) return;
    if (c < cols) dgamma[c] = sum;
    else dbeta[c - cols] = sum;
}

// dropout has a warp per row and 512 columns.
template <typename T>
DEVICE void dropRows(T *y, const T *x, texts t, const u64 *keys, int rows, int cols, int limit, float scale) {
    int lane = threadIdx.x & 31, row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (row >= rows) return;
    long long base = (long long)row * cols;
    int end = min(cols, (int)(blockIdx.y + 1) * 512);
    dropping drop(keys, t, row, limit, scale);
    for (int c = blockIdx.y * 512 + 4 * lane; c < end; c += 128) {
        u64 word = drop.word(c);
        if (cols % 4 == 0) {
            four v = load4(x, base + c);
            for (int k = 0; k < 4; k++) v.v[k] *= drop.of(word, k);
            store4(y, base + c, v);
        } else {
            for (int k = 0; k < 4 && c + k < end; k++)
                store(y, base + c + k, load(x, base + c + k) * drop.of(word, k));
        }
    }
}
extern "C" __global__ void dropout_f32(float *y, const float *x, const int *starts, const u64 *keys, int rows,
                                       int cols, int samples, int rowsEach, int limit, float scale) {
    dropRows(y, x, texts{starts, samples, rowsEach}, keys, rows, cols, limit, scale);
}
extern "C" __global__ void dropout_bf16(bf16 *y, const bf16 *x, const int *starts, const u64 *keys, int rows,
                                        int cols, int samples, int rowsEach, int limit, float scale) {
    dropRows(y, x, texts{starts, samples, rowsEach}, keys, rows, cols, limit, scale);
}

// firstToken copies the first row of each text; a block per text.
template <typename T> DEVICE void firstToken(float *y, const T *x, const int *starts, int cols) {
    long long from = (long long)starts[blockIdx.x] * cols, to = (long long)blockIdx.x * cols;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) y[to + c] = load(x, from + c);
}
extern "C" __global__ void first_token_f32(float *y, const float *x, const int *starts, int cols) {
    firstToken(y, x, starts, cols);
}
extern "C" __global__ void first_token_bf16(float *y, const bf16 *x, const int *starts, int cols) {
    firstToken(y, x, starts, cols);
}

// firstTokenBackward writes dy to the first rows and zeros to the others; a warp per row.
template <typename T>
DEVICE void firstTokenBackward(T *dx, const float *dy, const int *starts, int rows, int cols, int samples) {
    int lane = threadIdx.x & 31, row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (row >= rows) return;
    sampleRow s = sampleOf(starts, samples, 1, row);
    long long to = (long long)row * cols, from = (long long)s.sample * cols;
    if (cols % 4 == 0) {
        for (int c = 4 * lane; c < cols; c += 128)
            store4(dx, to + c, s.row == 0 ? load4(dy, from + c) : four{{0.f, 0.f, 0.f, 0.f}});
        return;
    }
    for (int c = lane; c < cols; c += 32) store(dx, to + c, s.row == 0 ? dy[from + c] : 0.f);
}
extern "C" __global__ void first_token_backward_f32(float *dx, const float *dy, const int *starts, int rows,
                                                    int cols, int samples) {
    firstTokenBackward(dx, dy, starts, rows, cols, samples);
}
extern "C" __global__ void first_token_backward_bf16(bf16 *dx, const float *dy, const int *starts, int rows,
                                                     int cols, int samples) {
    firstTokenBackward(dx, dy, starts, rows, cols, samples);
}

// columnTotals adds up the columns of x [rows, cols] in one kernel, for matrices that are not long. A block has
// V*side columns and all rows: side lanes side by side take V columns each, the others the next rows.
template <typename T, int V> DEVICE void columnTotals(float *sums, const T *x, int rows, int cols, int side) {
    __shared__ float room[32][33];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    int c = (blockIdx.x * side + lane % side) * V, step = warps * (32 / side);
    float s[V] = {};
    if (c < cols) {
        int row = warp * (32 / side) + lane / side;
        for (; row + 3 * step < rows; row += 4 * step) {
            vec<V> in[4];
#pragma unroll
            for (int u = 0; u < 4; u++) in[u] = get<V>(x, (long long)(row + u * step) * cols + c);
#pragma unroll
            for (int k = 0; k < V; k++) s[k] += (in[0].v[k] + in[1].v[k]) + (in[2].v[k] + in[3].v[k]);
        }
        for (; row < rows; row += step) {
            vec<V> in = get<V>(x, (long long)row * cols + c);
#pragma unroll
            for (int k = 0; k < V; k++) s[k] += in.v[k];
        }
    }
#pragma unroll
    for (int k = 0; k < V; k++) {
        for (int o = side; o < 32; o <<= 1) s[k] += __shfl_xor_sync(WHOLE_WARP, s[k], o);
        if (lane < side) room[warp][lane * V + k] = s[k];
    }
    __syncthreads();
    for (int i = warp; i < V * side; i += warps) {
        float sum = warpSum(lane < warps ? room[lane][i] : 0.f);
        if (lane == 0 && blockIdx.x * side * V + i < cols) sums[blockIdx.x * side * V + i] = sum;
    }
}
#define COLUMN_TOTALS(suffix, T)                                                                                   \
    extern "C" __global__ void __launch_bounds__(1024)                                                             \
        column_totals##suffix(float *sums, const T *x, int rows, int cols, int width, int side) {                  \
        if (width > 1) columnTotals<T, WIDE(T)>(sums, x, rows, cols, side);                                        \
        else columnTotals<T, 1>(sums, x, rows, cols, side);                                                        \
    }
COLUMN_TOTALS(_f32, float)
COLUMN_TOTALS(_bf16, bf16)
