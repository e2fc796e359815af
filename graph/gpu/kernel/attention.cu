// Attention of each head within each text: y = p v for p = softmax(q k^T * scale), and its gradients.
//
// q, k, v, y and their gradients are [tokens, heads*d], the texts' tokens one after another; moments is
// [tokens, heads, 2], the maximum of a row of q k^T and the inverse of its sum of exponentials. Scores stay
// on the chip: a block has a tile of queries (or keys) of a head of a text, goes through tiles of keys
// (queries), and the backward pass computes the scores again (Dao et al. 2022). Blocks are (tile, head,
// text); those behind the end of a text do nothing.
#include "base.cuh"
#include "drop.cuh"
#include "mma.cuh"
#include "attention.cuh"

// Inputs are what all kernels read. Dropout sets limit of 65536 probabilities to zero and multiplies the
// others by factor; keys has a key for each text.
template <typename T> struct Inputs {
    const T *q, *k, *v;
    const int *starts;
    const u64 *keys;
    int heads, d, limit;
    float factor, scale;
};

// Head is one head of one text.
struct Head {
    int start, n, heads, head; // the text's first token and number of tokens
    int cols;                  // from one token to the next
    long long base;            // the first token's first feature

    template <typename T>
    DEVICE Head(const Inputs<T> &a) : heads(a.heads), head(blockIdx.y), cols(a.heads * a.d) {
        start = a.starts[blockIdx.z];
        n = a.starts[blockIdx.z + 1] - start;
        base = (long long)start * cols + head * a.d;
    }
    // at is where token i has its place in a matrix with one column for each head.
    DEVICE long long at(int i) const { return (long long)(start + i) * heads + head; }
};

// Kept is a bit for each of a tile's queries and keys: whether dropout keeps the probability.
template <int ROWS> struct Kept {
    static const int words = ROWS / 32; // of a query
    u32 *bits;

    // draw sets the bits of the tile at a query and a key, by all threads of the block, unless nothing is
    // dropped.
    template <typename T> DEVICE void draw(const Inputs<T> &a, int query, int key) const {
        if (a.limit == 0) return;
        u64 text = a.keys[blockIdx.z];
        for (int i = threadIdx.x; i < ROWS * words; i += blockDim.x) {
            u32 word = 0;
            for (int j = 0; j < 8; j++) {
                u64 drawn = dropWord(text, blockIdx.y, query + i / words, (key + i % words * 32) / 4 + j);
                for (int c = 0; c < 4; c++) word |= (u32)(dropOf(drawn, c, a.limit, 1.f) > 0) << (4 * j + c);
            }
            bits[i] = word;
        }
    }
    DEVICE bool has(int query, int key) const { return bits[query * words + (key >> 5)] >> (key & 31) & 1; }
};

// Room divides the block's shared memory: tiles, three values and dropout's bits of a tile's rows, and what E
// needs itself.
template <typename E> struct Room {
    char *at;

    DEVICE typename E::Element *tile(const E &e, int i) const {
        return (typename E::Element *)(at + floats() * 4) + i * E::rows * e.stride;
    }
    DEVICE float *column(int i) const { return (float *)at + i * E::rows; }
    DEVICE Kept<E::rows> kept() const { return {(u32 *)(column(3))}; }
    DEVICE float *scores() const { return column(3) + E::rows * E::rows / 32; }
    static DEVICE int floats() {
        return 3 * E::rows + E::rows * E::rows / 32 + (E::lanes == 16 ? E::rows * (E::rows + 4) : 0);
    }
};

// The sum and the maximum over the threads that share a row.
template <int LANES> DEVICE float laneSum(float x) {
#pragma unroll
    for (int o = LANES / 2; o > 0; o >>= 1) x += __shfl_xor_sync(WHOLE_WARP, x, o);
    return x;
}
template <int LANES> DEVICE float laneMax(float x) {
#pragma unroll
    for (int o = LANES / 2; o > 0; o >>= 1) x = fmaxf(x, __shfl_xor_sync(WHOLE_WARP, x, o));
    return x;
}

// power is what turns a difference of scores into a power of two: exp(x*scale) = 2^(x*power).
DEVICE float powerOf(float scale) { return scale * 1.44269504f; }

template <typename E, typename T>
DEVICE void forward(T *y, float *moments, Inputs<T> a) {
    SHARED_ROOM(char, shared);
    Room<E> room = {shared};
    E e(a.d, room.scores());
    Head h(a);
    Kept<E::rows> kept = room.kept();
    const int first = blockIdx.x * E::rows, columns = E::rows / E::lanes;
    const float power = powerOf(a.scale);
    if (first >= h.n) return;
    e.fetch(room.tile(e, 0), a.q + h.base, h.cols, first, h.n);
    __syncthreads();
    typename E::Left left = e.left(room.tile(e, 0));
    float top[E::own], sum[E::own], out[E::own][E::sums] = {};
#pragma unroll
    for (int i = 0; i < E::own; i++) {
        top[i] = -INFINITE;
        sum[i] = 0;
    }
    for (int from = 0; from < h.n; from += E::rows) {
        if (from > 0) __syncthreads();
        e.fetch(room.tile(e, 1), a.k + h.base, h.cols, from, h.n);
        e.fetch(room.tile(e, 2), a.v + h.base, h.cols, from, h.n);
        kept.draw(a, first, from);
        __syncthreads();
        float p[E::own][columns];
        e.template scores<E::rows>(p, left, room.tile(e, 1));
#pragma unroll
        for (int i = 0; i < E::own; i++) {
            float most = top[i];
#pragma unroll
            for (int j = 0; j < columns; j++) {
                if (from + e.column(j) >= h.n) p[i][j] = -INFINITE;
                most = fmaxf(most, p[i][j]);
            }
            most = laneMax<E::lanes>(most);
            float shrink = exp2f((top[i] - most) * power);
            top[i] = most;
            sum[i] *= shrink;
#pragma unroll
            for (int j = 0; j < columns; j++) {
                p[i][j] = exp2f((p[i][j] - most) * power);
                sum[i] += p[i][j];
            }
#pragma unroll
            for (int f = 0; f < E::sums; f++) out[i][f] *= shrink;
            if (a.limit > 0) {
#pragma unroll
                for (int j = 0; j < columns; j++)
                    if (!kept.has(e.row(i), e.column(j))) p[i][j] = 0;
            }
        }
        e.template gather<E::rows>(out, p, room.tile(e, 2));
    }
#pragma unroll
    for (int i = 0; i < E::own; i++) {
        float inverse = 1 / laneSum<E::lanes>(sum[i]);
        if (threadIdx.x % E::lanes == 0 && first + e.row(i) < h.n) {
            long long at = 2 * h.at(first + e.row(i));
            moments[at] = top[i];
            moments[at + 1] = inverse;
        }
        sum[i] = inverse * a.factor;
    }
    e.put(y + h.base, h.cols, first, h.n, out, sum);
}

// Step is what the backward pass does with a tile of others, of which count rows are left.
template <typename E> struct Step {
    static const int columns = E::step / E::lanes;
    const E &e;
    Kept<E::rows> kept;
    bool drops;
    float factor, scale, power;

    // keep returns the factor of dropout.
    DEVICE float keep(int query, int key) const { return !drops ? 1 : kept.has(query, key) ? factor : 0; }

    // queries goes through keys and values. First it adds p*dp of a row to flow, over the thread's columns;
    // then, with the sum over all columns in flow, the gradients of scores times keys to dq.
    template <bool LAST>
    DEVICE void queries(const typename E::Left &q, const typename E::Left &dy, const typename E::Element *k,
                        const typename E::Element *v, int count, const float (&top)[E::own],
                        const float (&inverse)[E::own], float (&flow)[E::own],
                        float (&dq)[E::own][E::sums]) const {
#pragma unroll 1
        for (int c = 0; c < E::rows && c < count; c += E::step) {
            float s[E::own][columns], dp[E::own][columns];
            e.template scores<E::step>(s, q, k + c * e.stride);
            e.template scores<E::step>(dp, dy, v + c * e.stride);
#pragma unroll
            for (int i = 0; i < E::own; i++) {
#pragma unroll
                for (int j = 0; j < columns; j++) {
                    int key = c + e.column(j);
                    float p = key < count ? exp2f((s[i][j] - top[i]) * power) * inverse[i] : 0;
                    float g = dp[i][j] * keep(e.row(i), key);
                    if (LAST)
                        s[i][j] = p * (g - flow[i]) * scale;
                    else
                        flow[i] += p * g;
                }
            }
            if (LAST) e.template gather<E::step>(dq, s, k + c * e.stride);
        }
    }

    // keys goes through queries and their gradients, whose maxima, inverse sums and flows are in columns; an
    // inverse of 0 stands for no query.
    DEVICE void keys(const typename E::Left &k, const typename E::Left &v, const typename E::Element *q,
                     const typename E::Element *dy, int count, const Room<E> &room,
                     float (&dk)[E::own][E::sums], float (&dv)[E::own][E::sums]) const {
        const float *tops = room.column(0), *inverses = room.column(1), *flows = room.column(2);
#pragma unroll 1
        for (int c = 0; c < E::rows && c < count; c += E::step) {
            float s[E::own][columns], p[E::own][columns];
            e.template scores<E::step>(p, k, q + c * e.stride);
            e.template scores<E::step>(s, v, dy + c * e.stride);
#pragma unroll
            for (int j = 0; j < columns; j++) {
                int query = c + e.column(j);
                float top = tops[query], inverse = inverses[query], flow = flows[query];
#pragma unroll
                for (int i = 0; i < E::own; i++) {
                    float x = exp2f((p[i][j] - top) * power) * inverse, f = keep(query, e.row(i));
                    p[i][j] = x * f;
                    s[i][j] = x * (s[i][j] * f - flow) * scale;
                }
            }
            e.template gather<E::step>(dv, p, dy + c * e.stride);
            e.template gather<E::step>(dk, s, q + c * e.stride);
        }
    }
};

// ones returns a factor of one for each row.
template <int N> struct Ones { float v[N]; DEVICE Ones() { for (int i = 0; i < N; i++) v[i] = 1; } };

// ownMoments loads the moments of the thread's rows from first on.
template <typename E>
DEVICE void ownMoments(const E &e, const Head &h, const float *moments, int first, float (&top)[E::own],
                       float (&inverse)[E::own]) {
#pragma unroll
    for (int i = 0; i < E::own; i++) {
        bool is = first + e.row(i) < h.n;
        top[i] = is ? moments[2 * h.at(first + e.row(i))] : 0;
        inverse[i] = is ? moments[2 * h.at(first + e.row(i)) + 1] : 0;
    }
}

// backwardQueries computes dq, and for backwardKeys flows, [tokens, heads]: the sum of p*dp of each row.
template <typename E, typename T>
DEVICE void backwardQueries(T *dq, float *flows, const T *dy, const float *moments, Inputs<T> a) {
    SHARED_ROOM(char, shared);
    Room<E> room = {shared};
    E e(a.d, room.scores());
    Head h(a);
    Step<E> step = {e, room.kept(), a.limit > 0, a.factor, a.scale, powerOf(a.scale)};
    const int first = blockIdx.x * E::rows;
    if (first >= h.n) return;
    e.fetch(room.tile(e, 0), a.q + h.base, h.cols, first, h.n);
    e.fetch(room.tile(e, 1), dy + h.base, h.cols, first, h.n);
    float top[E::own], inverse[E::own], flow[E::own] = {}, sum[E::own][E::sums] = {};
    ownMoments(e, h, moments, first, top, inverse);
    __syncthreads();
    typename E::Left left = e.left(room.tile(e, 0)), leftDY = e.left(room.tile(e, 1));
    typename E::Element *ks = room.tile(e, 2), *vs = room.tile(e, 3);
    for (int pass = 0; pass < 2; pass++) {
        for (int from = 0; from < h.n; from += E::rows) {
            if (pass == 0 || h.n > E::rows) {
                __syncthreads();
                e.fetch(ks, a.k + h.base, h.cols, from, h.n);
                e.fetch(vs, a.v + h.base, h.cols, from, h.n);
                step.kept.draw(a, first, from);
                __syncthreads();
            }
            if (pass == 0)
                step.template queries<false>(left, leftDY, ks, vs, h.n - from, top, inverse, flow, sum);
            else
                step.template queries<true>(left, leftDY, ks, vs, h.n - from, top, inverse, flow, sum);
        }
        if (pass > 0) break;
#pragma unroll
        for (int i = 0; i < E::own; i++) {
            flow[i] = laneSum<E::lanes>(flow[i]);
            int query = first + e.row(i);
            if (threadIdx.x % E::lanes == 0 && query < h.n) flows[h.at(query)] = flow[i];
        }
    }
    e.put(dq + h.base, h.cols, first, h.n, sum, Ones<E::own>().v);
}

// backwardKeys computes dk and dv.
template <typename E, typename T>
DEVICE void backwardKeys(T *dk, T *dv, const float *flows, const T *dy, const float *moments, Inputs<T> a) {
    SHARED_ROOM(char, shared);
    Room<E> room = {shared};
    E e(a.d, room.scores());
    Head h(a);
    Step<E> step = {e, room.kept(), a.limit > 0, a.factor, a.scale, powerOf(a.scale)};
    const int first = blockIdx.x * E::rows;
    if (first >= h.n) return;
    e.fetch(room.tile(e, 0), a.k + h.base, h.cols, first, h.n);
    e.fetch(room.tile(e, 1), a.v + h.base, h.cols, first, h.n);
    __syncthreads();
    typename E::Left left = e.left(room.tile(e, 0)), leftV = e.left(room.tile(e, 1));
    float sumK[E::own][E::sums] = {}, sumV[E::own][E::sums] = {};
    for (int from = 0; from < h.n; from += E::rows) {
        __syncthreads();
        e.fetch(room.tile(e, 2), a.q + h.base, h.cols, from, h.n);
        e.fetch(room.tile(e, 3), dy + h.base, h.cols, from, h.n);
        if (threadIdx.x < E::rows) {
            int i = from + threadIdx.x;
            bool is = i < h.n;
            room.column(0)[threadIdx.x] = is ? moments[2 * h.at(i)] : 0;
            room.column(1)[threadIdx.x] = is ? moments[2 * h.at(i) + 1] : 0;
            room.column(2)[threadIdx.x] = is ? flows[h.at(i)] : 0;
        }
        step.kept.draw(a, from, first);
        __syncthreads();
        step.keys(left, leftV, room.tile(e, 2), room.tile(e, 3), h.n - from, room, sumK, sumV);
    }
    e.put(dk + h.base, h.cols, first, h.n, sumK, Ones<E::own>().v);
    e.put(dv + h.base, h.cols, first, h.n, sumV, Ones<E::own>().v);
}

// backwardShort computes all three gradients of a text that is one tile.
template <typename E, typename T>
DEVICE void backwardShort(T *dq, T *dk, T *dv, const T *dy, const float *moments, Inputs<T> a) {
    SHARED_ROOM(char, shared);
    Room<E> room = {shared};
    E e(a.d, room.scores());
    Head h(a);
    Step<E> step = {e, room.kept(), a.limit > 0, a.factor, a.scale, powerOf(a.scale)};
    typename E::Element *qs = room.tile(e, 0), *dys = room.tile(e, 1);
    typename E::Element *ks = room.tile(e, 2), *vs = room.tile(e, 3);
    e.fetch(qs, a.q + h.base, h.cols, 0, h.n);
    e.fetch(ks, a.k + h.base, h.cols, 0, h.n);
    e.fetch(dys, dy + h.base, h.cols, 0, h.n);
    e.fetch(vs, a.v + h.base, h.cols, 0, h.n);
    step.kept.draw(a, 0, 0);
    float top[E::own], inverse[E::own], flow[E::own] = {};
    ownMoments(e, h, moments, 0, top, inverse);
    __syncthreads();
    int count = e.row(0) - e.g < h.n ? h.n : 0; // a warp behind the text's end does nothing
    {
        typename E::Left left = e.left(qs), leftDY = e.left(dys);
        float sum[E::own][E::sums] = {};
        step.template queries<false>(left, leftDY, ks, vs, count, top, inverse, flow, sum);
#pragma unroll
        for (int i = 0; i < E::own; i++) {
            flow[i] = laneSum<E::lanes>(flow[i]);
            if (threadIdx.x % E::lanes == 0) {
                room.column(0)[e.row(i)] = top[i];
                room.column(1)[e.row(i)] = inverse[i];
                room.column(2)[e.row(i)] = flow[i];
            }
        }
        step.template queries<true>(left, leftDY, ks, vs, count, top, inverse, flow, sum);
        e.put(dq + h.base, h.cols, 0, h.n, sum, Ones<E::own>().v);
    }
    __syncthreads();
    typename E::Left left = e.left(ks), leftV = e.left(vs);
    float sumK[E::own][E::sums] = {}, sumV[E::own][E::sums] = {};
    step.keys(left, leftV, qs, dys, count, room, sumK, sumV);
    e.put(dk + h.base, h.cols, 0, h.n, sumK, Ones<E::own>().v);
    e.put(dv + h.base, h.cols, 0, h.n, sumV, Ones<E::own>().v);
}

// backwardWhole is backwardShort with more registers and shared memory and fewer products: the scores stay in
// registers, and go by way of shared memory to the products whose rows are keys.
template <typename E>
DEVICE void backwardWhole(float *dq, float *dk, float *dv, const float *dy, const float *moments,
                          Inputs<float> a) {
    const int own = E::own, columns = 64 / E::lanes;
    SHARED_ROOM(char, shared);
    Room<E> room = {shared};
    E e(a.d, room.scores());
    Head h(a);
    Kept<E::rows> kept = room.kept();
    const float power = powerOf(a.scale);
    const int halves = h.n > 64 ? 2 : 1;
    float *qs = room.tile(e, 0), *dys = room.tile(e, 1), *ks = room.tile(e, 2), *vs = room.tile(e, 3);
    float *turned = E::lanes == 4 ? ks : room.scores(); // ks and vs once they are of no use any more
    e.fetch(qs, a.q + h.base, h.cols, 0, h.n);
    e.fetch(ks, a.k + h.base, h.cols, 0, h.n);
    e.fetch(dys, dy + h.base, h.cols, 0, h.n);
    e.fetch(vs, a.v + h.base, h.cols, 0, h.n);
    kept.draw(a, 0, 0);
    float top[own], inverse[own], flow[own] = {}, p[2][own][columns], ds[2][own][columns];
    ownMoments(e, h, moments, 0, top, inverse);
    __syncthreads();
#pragma unroll
    for (int c = 0; c < 2; c++) {
        if (c >= halves) break;
        e.template scores<64>(p[c], e.left(qs), ks + c * 64 * e.stride);
        e.template scores<64>(ds[c], e.left(dys), vs + c * 64 * e.stride);
#pragma unroll
        for (int i = 0; i < own; i++) {
#pragma unroll
            for (int j = 0; j < columns; j++) {
                int key = c * 64 + e.column(j);
                float keep = a.limit == 0 ? 1 : kept.has(e.row(i), key) ? a.factor : 0;
                float x = key < h.n ? exp2f((p[c][i][j] - top[i]) * power) * inverse[i] : 0;
                float g = ds[c][i][j] * keep;
                flow[i] += x * g;
                p[c][i][j] = keep != 0 ? x : -x; // the sign is free to remember what is dropped
                ds[c][i][j] = g;
            }
        }
    }
#pragma unroll
    for (int i = 0; i < own; i++) flow[i] = laneSum<E::lanes>(flow[i]);
    float sum[own][E::sums] = {};
#pragma unroll
    for (int c = 0; c < 2; c++) {
        if (c >= halves) break;
#pragma unroll
        for (int i = 0; i < own; i++) {
#pragma unroll
            for (int j = 0; j < columns; j++) {
                float x = p[c][i][j];
                ds[c][i][j] = fabsf(x) * (ds[c][i][j] - flow[i]) * a.scale;
                p[c][i][j] = x < 0 ? 0 : x * a.factor;
            }
        }
        e.template gather<64>(sum, ds[c], ks + c * 64 * e.stride);
    }
    e.put(dq + h.base, h.cols, 0, h.n, sum, Ones<E::own>().v);
#pragma unroll
    for (int k = 0; k < 2; k++) { // dv, then dk
        __syncthreads();
#pragma unroll
        for (int c = 0; c < 2; c++)
            if (c < halves) e.template turn<64>(turned, k == 0 ? p[c] : ds[c], c * 64);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < own; i++)
#pragma unroll
            for (int f = 0; f < E::sums; f++) sum[i][f] = 0;
        e.gatherTurned(sum, turned, k == 0 ? dys : qs, h.n);
        e.put((k == 0 ? dv : dk) + h.base, h.cols, 0, h.n, sum, Ones<E::own>().v);
    }
}

#define INPUTS(T)                                                                                        \
    const T *q, const T *k, const T *v, const int *starts, const u64 *keys, int heads, int d, int limit, \
        float factor, float scale
#define GIVEN {q, k, v, starts, keys, heads, d, limit, factor, scale}
#define KERNEL extern "C" __global__ void

// So many blocks of a multiprocessor find registers; keys takes all that it can use.
#define ATTENTION(name, end, T, E, BLOCKS)                                                                \
    KERNEL __launch_bounds__(E::threads, BLOCKS) name##end(T *y, float *moments, INPUTS(T)) {            \
        forward<E>(y, moments, GIVEN);                                                                   \
    }                                                                                                    \
    KERNEL __launch_bounds__(E::threads, BLOCKS)                                                         \
        name##queries##end(T *dq, float *flows, const T *dy, const float *moments, INPUTS(T)) {          \
        backwardQueries<E>(dq, flows, dy, moments, GIVEN);                                               \
    }                                                                                                    \
    KERNEL __launch_bounds__(E::threads)                                                                 \
        name##keys##end(T *dk, T *dv, const float *flows, const T *dy, const float *moments, INPUTS(T)) { \
        backwardKeys<E>(dk, dv, flows, dy, moments, GIVEN);                                              \
    }

// Two blocks of a multiprocessor leave 128 registers to a thread.
#define SHORT(name, D)                                                                                   \
    KERNEL __launch_bounds__(256, 2)                                                                     \
        name##_bf16(bf16 *dq, bf16 *dk, bf16 *dv, const bf16 *dy, const float *moments, INPUTS(bf16)) {  \
        typedef Halves<D, 128> E;                                                                        \
        backwardShort<E>(dq, dk, dv, dy, moments, GIVEN);                                                \
    }

#define WHOLE(name, ...)                                                                                 \
    KERNEL __launch_bounds__(256, 1)                                                                     \
        name(float *dq, float *dk, float *dv, const float *dy, const float *moments, INPUTS(float)) {    \
        backwardWhole<__VA_ARGS__>(dq, dk, dv, dy, moments, GIVEN);                                      \
    }

typedef Singles<64, 1> Narrow;
typedef Singles<32, 4> Wide;
typedef Halves<16, 64> Halves16;
typedef Halves<32, 64> Halves32;
typedef Halves<64, 64> Halves64;
typedef Rounded<16, 64> Rounded16;
typedef Rounded<32, 64> Rounded32;
typedef Rounded<64, 64> Rounded64;

ATTENTION(attention, _f32, float, Narrow, 1)
ATTENTION(attentionwide, _f32, float, Wide, 1)
ATTENTION(attentionwide, _bf16, bf16, Wide, 1)
ATTENTION(attention16, _bf16, bf16, Halves16, 1)
ATTENTION(attention32, _bf16, bf16, Halves32, 1)
ATTENTION(attention64, _bf16, bf16, Halves64, 1)
ATTENTION(attention16, _tf32, float, Rounded16, 1)
ATTENTION(attention32, _tf32, float, Rounded32, 1)
ATTENTION(attention64, _tf32, float, Rounded64, 3)
SHORT(attention16short, 16)
SHORT(attention32short, 32)
SHORT(attention64short, 64)
WHOLE(attention16short_tf32, Rounded<16, 128>)
WHOLE(attention32short_tf32, Rounded<32, 128>)
WHOLE(attention64short_tf32, Rounded<64, 128>)
WHOLE(attentionshort_f32, Singles<128, 1>)
