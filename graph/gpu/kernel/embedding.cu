// Embeddings of tokens: the sum of three rows, and the sums of gradients by word, by position and by kind.
//
// Rows have cols columns. A warp takes 32 V columns of a row, V = 4 if that divides cols and else 1. The
// gradients of a word and of a position are added in the order of the tokens.
#include "drop.cuh"

template <int V> struct part { float v[V]; };
template <int V, typename T> DEVICE part<V> fetch(const T *p, long long i) {
    if constexpr (V == 1) {
        return {{load(p, i)}};
    } else {
        four x = load4(p, i);
        return {{x.v[0], x.v[1], x.v[2], x.v[3]}};
    }
}
template <int V, typename T> DEVICE void write(T *p, long long i, part<V> x) {
    if constexpr (V == 1) store(p, i, x.v[0]);
    else store4(p, i, four{{x.v[0], x.v[1], x.v[2], x.v[3]}});
}
template <int V> DEVICE part<V> zeros() {
    part<V> x;
#pragma unroll
    for (int k = 0; k < V; k++) x.v[k] = 0.f;
    return x;
}
template <int V> DEVICE void addTo(part<V> &sum, part<V> x) {
#pragma unroll
    for (int k = 0; k < V; k++) sum.v[k] += x.v[k];
}

// kindOf returns the kind of a row: 1 in the second part of a text, which begins at split unless that is 0.
DEVICE int kindOf(const int *splits, sampleRow s) {
    int split = splits[s.sample];
    return split > 0 && s.row >= split;
}

// embed has a warp per token. A token without a word gives NaN.
template <int V, typename T>
DEVICE void embed(T *y, const int *tokens, const int *starts, const int *splits, const float *words,
                  const float *positions, const float *kinds, int rows, int cols, int samples, int vocabulary) {
    int lane = threadIdx.x & 31, row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (row >= rows) return;
    sampleRow s = sampleOf(starts, samples, 1, row);
    int word = tokens[row];
    bool isWord = word >= 0 && word < vocabulary;
    long long w = (long long)(isWord ? word : 0) * cols, p = (long long)s.row * cols,
              k = (long long)kindOf(splits, s) * cols;
    for (int c = lane * V; c < cols; c += 32 * V) {
        part<V> sum = fetch<V>(words, w + c);
        addTo<V>(sum, fetch<V>(positions, p + c));
        addTo<V>(sum, fetch<V>(kinds, k + c));
        if (!isWord) sum.v[0] = INFINITE - INFINITE;
        write<V>(y, (long long)row * cols + c, sum);
    }
}

// embedding_sort sorts each 1024 tokens by word, and those of a word by their place: an element of sorted has
// the word in its upper half and the place in its lower one. The tokens missing in the last 1024 come last.
extern "C" __global__ void embedding_sort(u64 *sorted, const int *tokens, int rows) {
    __shared__ u64 key[1024];
    int first = blockIdx.x * 1024;
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        key[i] = first + i < rows ? (u64)(u32)tokens[first + i] << 32 | (u32)(first + i) : ~0ull;
    for (int size = 2; size <= 1024; size <<= 1) { // bitonic
        for (int half = size >> 1; half > 0; half >>= 1) {
            __syncthreads();
            int low = 2 * threadIdx.x - (threadIdx.x & (half - 1)), high = low + half;
            u64 a = key[low], b = key[high];
            bool isUp = (low & size) == 0;
            if ((a > b) == isUp) key[low] = b, key[high] = a;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) sorted[first + i] = key[i];
}

// embedding_rank merges the runs of embedding_sort: the place of an element is the number of smaller ones.
extern "C" __global__ void embedding_rank(u64 *order, const u64 *sorted, int rows, int runs) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, own = i >> 10, rank = i & 1023;
    u64 key = i < runs * 1024 ? sorted[i] : ~0ull;
    if (key == ~0ull) return;
    for (int run = 0; run < runs; run++) {
        if (run == own) continue;
        const u64 *r = sorted + run * 1024;
        int below = 0;
        for (int half = 512; half > 0; half >>= 1) {
            if (r[below + half - 1] < key) below += half;
        }
        rank += below + (r[below] < key);
    }
    order[rank] = key;
}

// embedWords adds up the rows of each word that occurs: a warp for each token, of which that of a word's first
// one works. The other rows of dwords must be zero.
template <int V, typename T>
DEVICE void embedWords(float *dwords, const u64 *order, const T *dy, int rows, int cols, int vocabulary) {
    int lane = threadIdx.x & 31, first = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    int c = (blockIdx.y * 32 + lane) * V;
    if (first >= rows) return;
    u32 word = (u32)(order[first] >> 32);
    if (first > 0 && (u32)(order[first - 1] >> 32) == word || word >= (u32)vocabulary) return;
    part<V> sum = zeros<V>();
    for (int i = first;; i += 32) {
        int mine = -1; // the place of token number i+lane in order, if it has the same word
        if (i + lane < rows) {
            u64 key = order[i + lane];
            if ((u32)(key >> 32) == word) mine = (int)(u32)key;
        }
        for (int u = 0; u < 32; u += 8) {
            part<V> x[8];
#pragma unroll
            for (int k = 0; k < 8; k++) {
                int place = __shfl_sync(WHOLE_WARP, mine, u + k);
                x[k] = zeros<V>();
                if (place >= 0 && c < cols) x[k] = fetch<V>(dy, (long long)place * cols + c);
            }
#pragma unroll
            for (int k = 0; k < 8; k++) addTo<V>(sum, x[k]);
            if (__shfl_sync(WHOLE_WARP, mine, u + 7) < 0) break;
        }
        if (__shfl_sync(WHOLE_WARP, mine, 31) < 0) break;
    }
    if (c < cols) write<V>(dwords, (long long)word * cols + c, sum);
}

// embedPositions adds up the rows of each position; a warp per position.
template <int V, typename T>
DEVICE void embedPositions(float *dpositions, const T *dy, const int *starts, int cols, int samples, int positions) {
    int lane = threadIdx.x & 31, position = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    int c = (blockIdx.y * 32 + lane) * V;
    if (position >= positions || c >= cols) return;
    part<V> sum = zeros<V>();
    for (int n = 0; n < samples; n += 8) {
        part<V> x[8];
#pragma unroll
        for (int k = 0; k < 8; k++) {
            x[k] = zeros<V>();
            if (n + k < samples) {
                int row = starts[n + k] + position;
                if (row < starts[n + k + 1]) x[k] = fetch<V>(dy, (long long)row * cols + c);
            }
        }
#pragma unroll
        for (int k = 0; k < 8; k++) addTo<V>(sum, x[k]);
    }
    write<V>(dpositions, (long long)position * cols + c, sum);
}

// embedKinds leaves the sums of a block's rows by kind in partial [blocks, 2, cols].
template <int V, typename T>
DEVICE void embedKinds(float *partial, const T *dy, const int *starts, const int *splits, int rows, int cols,
                       int samples) {
    __shared__ float room[2][32 * V];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    int c = (blockIdx.y * 32 + lane) * V;
    part<V> first = zeros<V>(), second = zeros<V>();
    int step = gridDim.x * warps;
    for (int row = blockIdx.x * warps + warp; row < rows; row += 32 * step) {
        int ahead = row + lane * step; // each lane finds the kind of one of the warp's next rows
        int kind = ahead < rows ? kindOf(splits, sampleOf(starts, samples, 1, ahead)) : -1;
        for (int u = 0; u < 32 && row + u * step < rows; u += 4) {
            part<V> x[4];
#pragma unroll
            for (int k = 0; k < 4; k++) {
                int from = row + (u + k) * step;
                x[k] = zeros<V>();
                if (from < rows && c < cols) x[k] = fetch<V>(dy, (long long)from * cols + c);
            }
#pragma unroll
            for (int k = 0; k < 4; k++) {
                if (__shfl_sync(WHOLE_WARP, kind, u + k) > 0) addTo<V>(second, x[k]);
                else addTo<V>(first, x[k]);
            }
        }
    }
    for (int w = 0; w < warps; w++) { // one warp after the other, for a fixed order
        if (warp == w) {
#pragma unroll
            for (int k = 0; k < V; k++) {
                int at = lane * V + k;
                room[0][at] = w > 0 ? room[0][at] + first.v[k] : first.v[k];
                room[1][at] = w > 0 ? room[1][at] + second.v[k] : second.v[k];
            }
        }
        __syncthreads();
    }
    if (warp > 0 || c >= cols) return;
#pragma unroll
    for (int k = 0; k < V; k++) {
        partial[2ll * blockIdx.x * cols + c + k] = room[0][lane * V + k];
        partial[(2ll * blockIdx.x + 1) * cols + c + k] = room[1][lane * V + k];
    }
}

// embedding_merge adds up partial [blocks, 2, cols] for the kinds that there are: 32 columns per block, whose 32
// warps share the rows.
extern "C" __global__ void embedding_merge(float *dkinds, const float *partial, int blocks, int cols, int kinds) {
    __shared__ float room[32][33];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, c = blockIdx.x * 32 + lane;
    float sum = 0.f;
    if (c < 2 * cols) {
        for (int b = warp; b < blocks; b += 32) sum += partial[2ll * b * cols + c];
    }
    room[warp][lane] = sum;
    __syncthreads();
    sum = warpSum(room[lane][warp]); // of column number warp
    c = blockIdx.x * 32 + warp;
    if (lane == 0 && c < min(kinds, 2) * cols) dkinds[c] = sum;
}

#define EMBEDDING_KERNELS(suffix, T, V)                                                                            \
    extern "C" __global__ void embedding##suffix(T *y, const int *tokens, const int *starts, const int *splits,    \
                                                 const float *words, const float *positions, const float *kinds,   \
                                                 int rows, int cols, int samples, int vocabulary) {                \
        embed<V>(y, tokens, starts, splits, words, positions, kinds, rows, cols, samples, vocabulary);             \
    }                                                                                                              \
    extern "C" __global__ void embedding_words##suffix(float *dwords, const u64 *order, const T *dy, int rows,     \
                                                       int cols, int vocabulary) {                                 \
        embedWords<V>(dwords, order, dy, rows, cols, vocabulary);                                                  \
    }                                                                                                              \
    extern "C" __global__ void embedding_positions##suffix(float *dpositions, const T *dy, const int *starts,      \
                                                           int cols, int samples, int positions) {                 \
        embedPositions<V>(dpositions, dy, starts, cols, samples, positions);                                       \
    }                                                                                                              \
    extern "C" __global__ void embedding_kinds##suffix(float *partial, const T *dy, const int *starts,             \
                                                       const int *splits, int rows, int cols, int samples) {       \
        embedKinds<V>(partial, dy, starts, splits, rows, cols, samples);                                           \
    }
EMBEDDING_KERNELS(_4_f32, float, 4)
EMBEDDING_KERNELS(_4_bf16, bf16, 4)
EMBEDDING_KERNELS(_1_f32, float, 1)
EMBEDDING_KERNELS(_1_bf16, bf16, 1)
