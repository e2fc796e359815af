// Batch norm over the rows of a map, and sums over rows; see the note of map.cuh.
#include "map.cuh"

// Note: moments.
//
// A thread shifts its values by the mean of its first few rows, so that its sums of d = x-shift and d*d
// cancel no more than a few bits where the mean is far larger than the deviation. The threads of a block are
// merged by the formula of Chan, Golub and LeVeque 1979. What the blocks have is merged in float64.

// chan merges the mean b and the sum of squares around it p of m values into a and q, those of n values.
DEVICE void chan(float &a, float &q, float n, float b, float p, float m) {
    float delta = b - a, share = m / (n + m);
    a += delta * share;
    q += p + delta * delta * n * share;
}

// MOMENT_ROWS is how many rows the shift is the mean of.
#define MOMENT_ROWS 4

// momentsOf takes the mean and the sum of squares around it of each channel over the rows of a block, to
// partial [blocks, 2, channels]. If WRITES, it first adds bias, if there is one, and applies a ReLU if asked.
template <typename T, int V, bool WRITES>
DEVICE void momentsOf(float *partial, T *y, const float *bias, int rows, int channels, int relu) {
    SHARED_ROOM(float, room);
    sweep<V, true> s(rows, channels);
    float shift[V], b[V], m[2 * V + 1] = {}; // the last is the number of rows
#pragma unroll
    for (int k = 0; k < V; k++) shift[k] = 0.f, b[k] = WRITES && bias && s.isOn ? bias[s.c + k] : 0.f;
    auto finished = [&](vec<V> x) {
        if constexpr (WRITES) {
#pragma unroll
            for (int k = 0; k < V; k++) {
                x.v[k] += b[k];
                if (relu) x.v[k] = rectify(x.v[k]);
            }
            x = rounded(y, x);
        }
        return x;
    };
    auto add = [&](int row, vec<V> x) {
        if (WRITES) put<V>(y, s.at(row), x);
#pragma unroll
        for (int k = 0; k < V; k++) {
            float d = x.v[k] - shift[k];
            m[k] += d;
            m[V + k] += d * d;
        }
    };
    int count = s.end > s.first ? (s.end - s.first + s.step - 1) / s.step : 0, some = min(count, MOMENT_ROWS);
    if (some > 0) {
        vec<V> x[MOMENT_ROWS]; // all read at once, the last one again if there are fewer
#pragma unroll
        for (int r = 0; r < MOMENT_ROWS; r++) x[r] = get<V>(y, s.at(s.first + min(r, some - 1) * s.step));
#pragma unroll
        for (int r = 0; r < MOMENT_ROWS; r++) {
            x[r] = finished(x[r]);
#pragma unroll
            for (int k = 0; k < V; k++) shift[k] += x[r].v[k] * (1.f / MOMENT_ROWS);
        }
#pragma unroll
        for (int r = 0; r < MOMENT_ROWS; r++)
            if (r < some) add(s.first + r * s.step, x[r]);
    }
    overRowsFrom<MOMENT_ROWS>(
        s.first + some * s.step, s, [&](int row) { return get<V>(y, s.at(row)); },
        [&](int row, vec<V> x) { add(row, finished(x)); });
    if (count > 0) {
        float inverse = 1.f / count;
#pragma unroll
        for (int k = 0; k < V; k++) {
            float d = m[k] * inverse;
            m[V + k] = rectify(m[V + k] - m[k] * d);
            m[k] = shift[k] + d;
        }
    }
    m[2 * V] = count;
    overLanes(m, room, [](float (&m)[2 * V + 1], const float (&w)[2 * V + 1], int) {
        if (w[2 * V] == 0.f) return; // lanes with rows come first
#pragma unroll
        for (int k = 0; k < V; k++) chan(m[k], m[V + k], m[2 * V], w[k], w[V + k], w[2 * V]);
        m[2 * V] += w[2 * V];
    });
    putPartial<V, 2>(partial, s, m);
}

#define MOMENTS(name, T, WRITES)                                                                             \
    extern "C" __global__ void __launch_bounds__(256, WRITES ? 3 : 4)                                        \
        name(float *partial, T *y, const float *bias, int rows, int channels, int width, int relu) {         \
        if (width > 1)                                                                                       \
            momentsOf<T, WIDE(T), WRITES>(partial, y, bias, rows, channels, relu);                           \
        else                                                                                                 \
            momentsOf<T, 1, WRITES>(partial, y, bias, rows, channels, relu);                                 \
    }
MOMENTS(moments_f32, float, false)
MOMENTS(moments_bf16, bf16, false)
MOMENTS(momentsfinish_f32, float, true)
MOMENTS(momentsfinish_bf16, bf16, true)

// momentsmerge merges the blocks of momentsOf, each with so many lanes (blockDim.y). A column of threads, a
// power of two, takes a channel.
extern "C" __global__ void __launch_bounds__(1024)
    momentsmerge(float *mean, float *variance, float *unbiased, const float *partial, int rows, int channels,
                 int lanes, int blocks) {
    SHARED_ROOM(double, kept);
    int c = blockIdx.x * blockDim.x + threadIdx.x, turns = rows / (lanes * blocks);
    int rest = rows - turns * lanes * blocks;
    double center = c < channels ? partial[c] : 0, s = 0, q = 0;
    int end = c < channels ? blocks : 0;
#pragma unroll 4
    for (int b = threadIdx.y; b < end; b += blockDim.y) {
        const float *p = partial + 2ll * b * channels + c;
        double n = turns * lanes + max(min(rest - b * lanes, lanes), 0), d = p[0] - center;
        s += n * d;
        q += n * d * d + p[channels];
    }
    double *mine = kept + 2 * (threadIdx.y * blockDim.x + threadIdx.x);
    mine[0] = s, mine[1] = q;
    for (int half = blockDim.y / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.y < half) {
            mine[0] += mine[2 * half * blockDim.x];
            mine[1] += mine[2 * half * blockDim.x + 1];
        }
    }
    if (threadIdx.y > 0 || c >= channels) return;
    double shift = mine[0] / rows, v = mine[1] / rows - shift * shift;
    v = v < 0 ? 0 : v; // a NaN stays
    mean[c] = center + shift;
    variance[c] = v;
    unbiased[c] = rows > 1 ? v * rows / (rows - 1) : 0;
}

// Reads of a gradient with what belongs to it.
template <int V> struct pair { vec<V> g, x; };
template <int V> struct triple { vec<V> g, x, z; };

// What masks the gradient that is summed.
enum { OPEN, BY_RELU, BY_RESULT };

// normSumsOf sums g and g*(x-mean) over the rows of a block, to partial [blocks, 2, channels]. g is dy; or dy
// where the normalised value is above 0, else 0; or dy where z is, and then it is written.
template <typename T, int V, int MASK>
DEVICE void normSumsOf(float *partial, T *g, const T *dy, const T *z, const T *x, const float *mean,
                       const float *variance, const float *gamma, const float *beta, int rows, int channels,
                       float eps) {
    SHARED_ROOM(float, room);
    sweep<V, true> s(rows, channels);
    normalisation<V> n(s, mean, variance, gamma, beta, eps);
    float sums[2 * V] = {};
    auto read = [&](int row) {
        long long i = s.at(row);
        triple<V> in = {get<V>(dy, i), get<V>(x, i), {}};
        if (MASK == BY_RESULT) in.z = get<V>(z, i);
        return in;
    };
    overRows<2>(s, read, [&](int row, triple<V> in) {
#pragma unroll
        for (int k = 0; k < V; k++) {
            float &d = in.g.v[k];
            if (MASK == BY_RELU) d = gate(d, n.of(k, in.x.v[k]));
            if (MASK == BY_RESULT) d = gate(d, in.z.v[k]);
            sums[k] += d;
            sums[V + k] += d * (in.x.v[k] - n.mean[k]);
        }
        if (MASK == BY_RESULT) put<V>(g, s.at(row), in.g);
    });
    addLanes(sums, room);
    putPartial<V, 2>(partial, s, sums);
}

#define NORM_SUMS(name, T, MASK)                                                                             \
    extern "C" __global__ void __launch_bounds__(256, 4)                                                     \
        name(float *partial, T *g, const T *dy, const T *z, const T *x, const float *mean,                   \
             const float *variance, const float *gamma, const float *beta, int rows, int channels,           \
             int width, float eps) {                                                                         \
        if (width > 1)                                                                                       \
            normSumsOf<T, WIDE(T), MASK>(partial, g, dy, z, x, mean, variance, gamma, beta, rows, channels,  \
                                         eps);                                                               \
        else                                                                                                 \
            normSumsOf<T, 1, MASK>(partial, g, dy, z, x, mean, variance, gamma, beta, rows, channels, eps);  \
    }
NORM_SUMS(normsums_f32, float, OPEN)
NORM_SUMS(normsums_bf16, bf16, OPEN)
NORM_SUMS(normsumsrelu_f32, float, BY_RELU)
NORM_SUMS(normsumsrelu_bf16, bf16, BY_RELU)
NORM_SUMS(normsumsgate_f32, float, BY_RESULT)
NORM_SUMS(normsumsgate_bf16, bf16, BY_RESULT)

// mergesums adds the rows of partial [blocks, columns].
extern "C" __global__ void __launch_bounds__(1024)
    mergesums(float *sums, const float *partial, int blocks, int columns) {
    SHARED_ROOM(float, added);
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    float s[1] = {0.f};
    int end = c < columns ? blocks : 0;
#pragma unroll 8
    for (int b = threadIdx.y; b < end; b += blockDim.y)
        s[0] += partial[(long long)b * columns + c];
    addLanes(s, added);
    if (threadIdx.y == 0 && c < columns) sums[c] = s[0];
}

// normGradOf writes the gradient of a normalisation's input, and those of gamma and beta, from dy, masked by
// the ReLU if there is one, and the sums of normSumsOf.
template <typename T, int V, bool RELU>
DEVICE void normGradOf(T *dx, float *dgamma, float *dbeta, const T *dy, const T *x, const float *mean,
                       const float *variance, const float *gamma, const float *beta, const float *sums,
                       int rows, int channels, float eps) {
    sweep<V> s(rows, channels);
    normalisation<V> n(s, mean, variance, gamma, beta, eps);
    gradients<V> d(s, variance, gamma, eps, sums, dgamma, dbeta, rows);
    auto read = [&](int row) { return pair<V>{get<V>(dy, s.at(row)), get<V>(x, s.at(row))}; };
    overRows<2>(s, read, [&](int row, pair<V> in) {
        vec<V> out;
#pragma unroll
        for (int k = 0; k < V; k++) {
            float g = RELU ? gate(in.g.v[k], n.of(k, in.x.v[k])) : in.g.v[k];
            out.v[k] = d.of(n, k, g, in.x.v[k]);
        }
        put<V>(dx, s.at(row), out);
    });
}

#define NORM_GRAD(name, T, RELU)                                                                             \
    extern "C" __global__ void __launch_bounds__(256, 4)                                                     \
        name(T *dx, float *dgamma, float *dbeta, const T *dy, const T *x, const float *mean,                 \
             const float *variance, const float *gamma, const float *beta, const float *sums, int rows,      \
             int channels, int width, float eps) {                                                           \
        if (width > 1)                                                                                       \
            normGradOf<T, WIDE(T), RELU>(dx, dgamma, dbeta, dy, x, mean, variance, gamma, beta, sums, rows,  \
                                         channels, eps);                                                     \
        else                                                                                                 \
            normGradOf<T, 1, RELU>(dx, dgamma, dbeta, dy, x, mean, variance, gamma, beta, sums, rows,        \
                                   channels, eps);                                                           \
    }
NORM_GRAD(normgrad_f32, float, false)
NORM_GRAD(normgrad_bf16, bf16, false)
NORM_GRAD(normgradrelu_f32, float, true)
NORM_GRAD(normgradrelu_bf16, bf16, true)

// normalizeOf writes the normalised map, plus r if ADDS. y may be x or r.
template <typename T, int V, bool ADDS>
DEVICE void normalizeOf(T *y, const T *x, const T *r, const float *mean, const float *variance,
                        const float *gamma, const float *beta, int rows, int channels, float eps, int relu) {
    sweep<V> s(rows, channels);
    normalisation<V> n(s, mean, variance, gamma, beta, eps);
    auto read = [&](int row) {
        pair<V> in = {{}, get<V>(x, s.at(row))};
        if (ADDS) in.g = get<V>(r, s.at(row));
        return in;
    };
    overRows<ADDS ? 2 : 4>(s, read, [&](int row, pair<V> in) {
        vec<V> out;
#pragma unroll
        for (int k = 0; k < V; k++) {
            out.v[k] = n.of(k, in.x.v[k]);
            if (ADDS) out.v[k] += in.g.v[k];
            if (relu) out.v[k] = rectify(out.v[k]);
        }
        put<V>(y, s.at(row), out);
    });
}

#define NORMALIZE(name, T, ADDS)                                                                             \
    extern "C" __global__ void __launch_bounds__(256, 4)                                                     \
        name(T *y, const T *x, const T *r, const float *mean, const float *variance, const float *gamma,     \
             const float *beta, int rows, int channels, int width, float eps, int relu) {                    \
        if (width > 1)                                                                                       \
            normalizeOf<T, WIDE(T), ADDS>(y, x, r, mean, variance, gamma, beta, rows, channels, eps, relu);  \
        else                                                                                                 \
            normalizeOf<T, 1, ADDS>(y, x, r, mean, variance, gamma, beta, rows, channels, eps, relu);        \
    }
NORMALIZE(normalize_f32, float, false)
NORMALIZE(normalize_bf16, bf16, false)
NORMALIZE(normalizeadd_f32, float, true)
NORMALIZE(normalizeadd_bf16, bf16, true)

// columnSumsOf sums the rows of a block, times factor, to partial [blocks, channels].
template <typename T, int V>
DEVICE void columnSumsOf(float *partial, const T *x, int rows, int channels, int length, float factor) {
    SHARED_ROOM(float, room);
    span<V> s(rows, channels, length);
    float sums[V] = {};
    overRows<4>(
        s, [&](int row) { return get<V>(x, s.at(row)); },
        [&](int, vec<V> x) {
#pragma unroll
            for (int k = 0; k < V; k++) sums[k] += x.v[k];
        });
    addLanes(sums, room);
#pragma unroll
    for (int k = 0; k < V; k++) sums[k] *= factor;
    putPartial<V, 1>(partial, s, sums);
}

#define COLUMN_SUMS(name, T)                                                                                 \
    extern "C" __global__ void __launch_bounds__(256)                                                        \
        name(float *partial, const T *x, int rows, int channels, int width, int length, float factor) {      \
        if (width > 1)                                                                                       \
            columnSumsOf<T, WIDE(T)>(partial, x, rows, channels, length, factor);                            \
        else                                                                                                 \
            columnSumsOf<T, 1>(partial, x, rows, channels, length, factor);                                  \
    }
COLUMN_SUMS(columnsums_f32, float)
COLUMN_SUMS(columnsums_bf16, bf16)
