// What kernels of maps share.
//
// Note: rows and channels.
//
// A map is a matrix of rows (pixels) of channels. A thread takes V channels side by side, from channel c on,
// and goes over rows; blockDim.x threads lie side by side, and blockDim.y rows are treated at a time. Blocks
// are numbered by their rows (x) and their channels (y). V is WIDE(T), 16 bytes, or 1 if that does not divide
// the channels; the argument width says which.
//
// Each block has a span of rows, or all blocks sweep over the map together and take turns. Sums sweep from the
// last row to the first: what a product wrote last is still in the GPU's cache then, if the map is too large
// for all of it to be there; and what the sums read last, the first rows, is where the next sweep starts.
#pragma once
#include "base.cuh"

template <typename T> struct wide;
template <> struct wide<float> { static const int V = 4; };
template <> struct wide<bf16> { static const int V = 8; };
#define WIDE(T) wide<T>::V

template <int V> struct vec { float v[V]; };

// get and put read and write V elements from element i on, which is a multiple of V.
template <int V> DEVICE vec<V> get(const float *p, long long i) {
    vec<V> x;
    if constexpr (V == 1) {
        x.v[0] = p[i];
    } else {
#pragma unroll
        for (int k = 0; k < V; k += 4) {
            four q = load4(p, i + k);
#pragma unroll
            for (int j = 0; j < 4; j++) x.v[k + j] = q.v[j];
        }
    }
    return x;
}
template <int V> DEVICE vec<V> get(const bf16 *p, long long i) {
    vec<V> x;
    if constexpr (V == 1) {
        x.v[0] = load(p, i);
    } else if constexpr (V == 4) {
        four q = load4(p, i);
#pragma unroll
        for (int k = 0; k < 4; k++) x.v[k] = q.v[k];
    } else {
        uint4 q = *(const uint4 *)(p + i);
        u32 word[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
        for (int k = 0; k < 4; k++) {
            x.v[2 * k] = __uint_as_float(word[k] << 16);
            x.v[2 * k + 1] = __uint_as_float(word[k] & 0xffff0000u);
        }
    }
    return x;
}
template <int V> DEVICE void put(float *p, long long i, vec<V> x) {
    if constexpr (V == 1) {
        p[i] = x.v[0];
    } else {
#pragma unroll
        for (int k = 0; k < V; k += 4) store4(p, i + k, four{{x.v[k], x.v[k + 1], x.v[k + 2], x.v[k + 3]}});
    }
}
template <int V> DEVICE void put(bf16 *p, long long i, vec<V> x) {
    if constexpr (V == 1) {
        store(p, i, x.v[0]);
    } else if constexpr (V == 4) {
        store4(p, i, four{{x.v[0], x.v[1], x.v[2], x.v[3]}});
    } else {
        u32 word[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            word[k] = narrow(x.v[2 * k]).bits | (u32)narrow(x.v[2 * k + 1]).bits << 16;
        uint4 q;
        q.x = word[0], q.y = word[1], q.z = word[2], q.w = word[3];
        *(uint4 *)(p + i) = q;
    }
}

// rounded returns x as a map of the type of p would hold it.
template <int V> DEVICE vec<V> rounded(const float *, vec<V> x) { return x; }
template <int V> DEVICE vec<V> rounded(const bf16 *, vec<V> x) {
#pragma unroll
    for (int k = 0; k < V; k++) x.v[k] = widen(narrow(x.v[k]));
    return x;
}

// span is the share of a thread: rows first, first+step, ... before end, channels c to c+V-1. Threads beyond
// the last channel have no rows.
template <int V> struct span {
    int first, end, step, c, channels;
    bool isOn;

    DEVICE span(int rows, int channels, int length) : channels(channels) {
        int begin = blockIdx.x * length;
        c = (blockIdx.y * blockDim.x + threadIdx.x) * V;
        isOn = c < channels;
        step = blockDim.y;
        first = begin + threadIdx.y;
        end = isOn ? min(begin + length, rows) : 0;
    }

    // at returns the first element of the thread in a row.
    DEVICE long long at(int row) const { return (long long)row * channels + c; }
};

// sweep is the share of a thread in a sweep over rows. Row r of the sweep lies at at(r), from the last on if
// BACK.
template <int V, bool BACK = false> struct sweep : span<V> {
    DEVICE sweep(int rows, int channels) : span<V>(rows, channels, 0) {
        this->step = gridDim.x * blockDim.y;
        this->first = blockIdx.x * blockDim.y + threadIdx.y;
        this->end = this->isOn ? rows : 0;
    }
    DEVICE int turned(int row) const { return BACK ? this->end - 1 - row : row; }
    DEVICE long long at(int row) const { return span<V>::at(turned(row)); }
};

// overRows calls use(row, load(row)) for the rows of a thread. It loads several rows at once, before they are
// used.
template <int ATONCE, int V, typename L, typename F>
DEVICE void overRowsFrom(int row, const span<V> &s, L load, F use) {
    for (; row + (ATONCE - 1) * s.step < s.end; row += ATONCE * s.step) {
        decltype(load(0)) in[ATONCE];
#pragma unroll
        for (int u = 0; u < ATONCE; u++) in[u] = load(row + u * s.step);
#pragma unroll
        for (int u = 0; u < ATONCE; u++) use(row + u * s.step, in[u]);
    }
    for (; row < s.end; row += s.step) use(row, load(row));
}
template <int ATONCE, int V, typename L, typename F> DEVICE void overRows(const span<V> &s, L load, F use) {
    overRowsFrom<ATONCE>(s.first, s, load, use);
}

// overLanes merges the values of threads with the same threadIdx.x, in an order that follows from blockDim.y.
// The result is in those with threadIdx.y == 0. merge(v, w, y) merges into the K values v of the thread the
// values w of that with threadIdx.y == y. room has K elements per thread. All threads must call it.
template <int K, typename F> DEVICE void overLanes(float (&v)[K], float *room, F merge) {
    int lanes = blockDim.y, y = threadIdx.y, threads = blockDim.x * blockDim.y;
    int at = y * blockDim.x + threadIdx.x, half = 1;
    while (half < lanes) half <<= 1;
    for (half >>= 1; half > 0; half >>= 1) {
        __syncthreads();
        if (y >= half && y < 2 * half) {
#pragma unroll
            for (int k = 0; k < K; k++) room[k * threads + at] = v[k];
        }
        __syncthreads();
        if (y < half && y + half < lanes) {
            float w[K];
#pragma unroll
            for (int k = 0; k < K; k++) w[k] = room[k * threads + at + half * blockDim.x];
            merge(v, w, y + half);
        }
    }
}

// addLanes is overLanes with sums.
template <int K> DEVICE void addLanes(float (&v)[K], float *room) {
    overLanes(v, room, [](float (&v)[K], const float (&w)[K], int) {
#pragma unroll
        for (int k = 0; k < K; k++) v[k] += w[k];
    });
}

// putPartial writes what a block has, KINDS values of each channel, to its row of partial
// [blocks, KINDS, channels].
template <int V, int KINDS, int K>
DEVICE void putPartial(float *partial, const span<V> &s, const float (&v)[K]) {
    if (threadIdx.y > 0 || !s.isOn) return;
#pragma unroll
    for (int k = 0; k < KINDS * V; k++)
        partial[((long long)blockIdx.x * KINDS + k / V) * s.channels + s.c + k % V] = v[k];
}

// rectify returns max(v, 0), keeping NaN; gate returns d where the rectified value t let the gradient
// through.
DEVICE float rectify(float v) { return v < 0.f ? 0.f : v; }
DEVICE float gate(float d, float t) { return t <= 0.f ? 0.f : d; }

// TABLE_CHANNELS is how many channels a block has at most.
#define TABLE_CHANNELS 256

// inverseOf returns 1/sqrt(variance+eps).
DEVICE float inverseOf(float variance, float eps) { return rsqrtf(variance + eps); }

// tables returns the block's tables, one for each coefficient of its channels.
DEVICE float (*tables())[TABLE_CHANNELS] {
    alignas(16) __shared__ float room[5][TABLE_CHANNELS];
    return room;
}

// tabulate calls f(i, c) once for each channel c of the block, number i there, spread over the threads.
template <int V, typename F> DEVICE void tabulate(int channels, F f) {
    int begin = blockIdx.y * blockDim.x * V, count = min((int)blockDim.x * V, channels - begin);
    int thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
    for (int i = thread; i < count; i += threads) f(i, begin + i);
}

// takeOf reads a thread's entries of a table, which is aligned to 16 bytes.
template <int V> DEVICE void takeOf(float (&to)[V], const float *table) {
    vec<V> v = get<V>(table, threadIdx.x * V);
#pragma unroll
    for (int k = 0; k < V; k++) to[k] = v.v[k];
}

// normalisation is what a thread knows of its channels. All threads of the block must construct it.
template <int V> struct normalisation {
    float mean[V], scale[V], shift[V];

    DEVICE normalisation(const span<V> &s, const float *means, const float *variance, const float *gamma,
                         const float *beta, float eps) {
        auto table = tables();
        tabulate<V>(s.channels, [&](int i, int c) {
            table[0][i] = means[c];
            table[1][i] = __fmul_rn(gamma[c], inverseOf(variance[c], eps));
            table[2][i] = beta[c];
        });
        __syncthreads();
        if (!s.isOn) return;
        takeOf(mean, table[0]);
        takeOf(scale, table[1]);
        takeOf(shift, table[2]);
    }

    // of is the normalised value that forward kernels write and backward kernels compute anew with the same
    // bits: no compiler may contract it.
    DEVICE float of(int k, float x) const {
        return __fadd_rn(__fmul_rn(__fsub_rn(x, mean[k]), scale[k]), shift[k]);
    }
};

// gradients are the coefficients of the gradient of a normalisation's input, from the sums over all rows of
// g, the gradient of its result, and of g*(x-mean). All threads of the block must construct it.
template <int V> struct gradients {
    float slope[V], offset[V];

    // The first block writes the gradients of gamma and beta.
    DEVICE gradients(const span<V> &s, const float *variance, const float *gamma, float eps, const float *sums,
                     float *dgamma, float *dbeta, int rows) {
        auto table = tables() + 3;
        float share = 1.f / rows;
        tabulate<V>(s.channels, [&](int i, int c) {
            float inverse = inverseOf(variance[c], eps), scale = gamma[c] * inverse;
            float b = sums[c], g = sums[s.channels + c] * inverse;
            table[0][i] = -scale * g * inverse * share;
            table[1][i] = -scale * b * share;
            if (blockIdx.x == 0) dbeta[c] = b, dgamma[c] = g;
        });
        __syncthreads();
        if (!s.isOn) return;
        takeOf(slope, table[0]);
        takeOf(offset, table[1]);
    }

    DEVICE float of(const normalisation<V> &n, int k, float g, float x) const {
        return n.scale[k] * g + (slope[k] * (x - n.mean[k]) + offset[k]);
    }
};
