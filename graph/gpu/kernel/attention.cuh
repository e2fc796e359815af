// How a block of threads computes with tiles of queries, keys, values and gradients in shared memory.
//
// Halves, Rounded and Singles have the same members. A block has a tile of rows of its own, "mine", and goes
// through tiles of as many rows, "others". A thread computes scores of own rows of mine, at row(0), row(1),
// ..., with rows of others, the columns column(0), column(1), ...; lanes threads, neighbours in a warp, share
// a row. It keeps sums of the products of scores and others: own rows of so many of a head's features.
#pragma once

// putFour is store4 to global memory, at once: of a struct the compiler makes four stores now and then.
#ifndef EMULATED
DEVICE void putFour(float *p, const float *v) {
    asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(__cvta_generic_to_global(p)), "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3])
                 : "memory");
}
#else
DEVICE void putFour(float *p, const float *v) { store4(p, 0, {{v[0], v[1], v[2], v[3]}}); }
#endif
DEVICE void putFour(bf16 *p, const float *v) { store4(p, 0, {{v[0], v[1], v[2], v[3]}}); }

// Halves computes with bf16 on tensor cores, heads of D features, a warp for each 16 of its rows.
template <int D, int ROWS> struct Halves {
    typedef bf16 Element;
    static constexpr int rows = ROWS, threads = 2 * ROWS, lanes = 4, own = 2, sums = D / 4, step = 16;
    static constexpr int stride = D + 8;
    struct Left { quarters q[D / 16]; };
    int warp, g, t;

    DEVICE Halves(int, float *) : warp(threadIdx.x >> 5), g((threadIdx.x & 31) >> 2), t(threadIdx.x & 3) {}
    DEVICE int row(int i) const { return warp * 16 + g + 8 * i; }
    DEVICE int column(int j) const { return (j >> 1) * 8 + 2 * t + (j & 1); }

    // fetch copies rows from on of x to a tile; those from n on are zero.
    DEVICE void fetch(bf16 *tile, const bf16 *x, int cols, int from, int n) const {
        struct alignas(16) Eight { u32 v[4]; };
#pragma unroll
        for (int c = 0; c < D / 16; c++) {
            int i = threadIdx.x + c * threads, r = i / (D / 8), f = i % (D / 8) * 8;
            Eight x8 = {};
            if (from + r < n) x8 = *(const Eight *)(x + (long long)(from + r) * cols + f);
            *(Eight *)(tile + r * stride + f) = x8;
        }
    }

    // left loads the thread's rows of mine.
    DEVICE Left left(const bf16 *mine) const {
        Left l;
#pragma unroll
        for (int k = 0; k < D / 16; k++) l.q[k] = quartersOf(mine + warp * 16 * stride + k * 16, stride);
        return l;
    }

    // scores multiplies mine by the transpose of W others.
    template <int W> DEVICE void scores(float (&s)[2][W / 4], const Left &l, const bf16 *others) const {
#pragma unroll
        for (int j = 0; j < W / 4; j++) s[0][j] = s[1][j] = 0;
#pragma unroll
        for (int k = 0; k < D / 16; k++) {
#pragma unroll
            for (int c = 0; c < W / 16; c++) {
                quarters b = quartersOf(others + c * 16 * stride + k * 16, stride);
                multiply(&s[0][4 * c], &s[1][4 * c], l.q[k], b.v[0], b.v[2]);
                multiply(&s[0][4 * c + 2], &s[1][4 * c + 2], l.q[k], b.v[1], b.v[3]);
            }
        }
    }

    // gather adds to sums the product of scores, rounded to bf16, and W others.
    template <int W>
    DEVICE void gather(float (&y)[2][D / 4], const float (&s)[2][W / 4], const bf16 *others) const {
#pragma unroll
        for (int c = 0; c < W / 16; c++) {
            const float *up = &s[0][4 * c], *low = &s[1][4 * c];
            quarters a = {{together(up[0], up[1]), together(low[0], low[1]), together(up[2], up[3]),
                           together(low[2], low[3])}};
#pragma unroll
            for (int f = 0; f < D / 16; f++) {
                quarters b = turnedOf(others + c * 16 * stride + f * 16, stride);
                multiply(&y[0][4 * f], &y[1][4 * f], a, b.v[0], b.v[1]);
                multiply(&y[0][4 * f + 2], &y[1][4 * f + 2], a, b.v[2], b.v[3]);
            }
        }
    }

    // put stores sums, times a factor for each row, to rows from on of y, below n.
    DEVICE void put(bf16 *y, int cols, int from, int n, const float (&sum)[2][D / 4],
                    const float (&factor)[2]) const {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            if (from + row(i) >= n) continue;
            bf16 *p = y + (long long)(from + row(i)) * cols;
#pragma unroll
            for (int j = 0; j < D / 4; j += 2)
                *(u32 *)(p + column(j)) = together(sum[i][j] * factor[i], sum[i][j + 1] * factor[i]);
        }
    }
};

// Rounded computes with tf32 on tensor cores, heads of D features, a warp for each 16 of its rows. Its tiles
// hold rounded values.
template <int D, int ROWS> struct Rounded {
    typedef float Element;
    static constexpr int rows = ROWS, threads = 2 * ROWS, lanes = 4, own = 2, sums = D / 4, step = 16;
    static constexpr int stride = D + 4;
    static constexpr int wide = D < 32 ? 2 : 4; // neighbours among the features of a lane
    struct Left { quarters q[D / 8]; };
    struct alignas(4 * wide) Wide { float v[wide]; };
    int warp, g, t;

    DEVICE Rounded(int, float *) : warp(threadIdx.x >> 5), g((threadIdx.x & 31) >> 2), t(threadIdx.x & 3) {}
    DEVICE int row(int i) const { return warp * 16 + g + 8 * i; }
    DEVICE int column(int j) const { return (j >> 1) * 8 + 2 * t + (j & 1); }

    DEVICE void fetch(float *tile, const float *x, int cols, int from, int n) const {
#pragma unroll
        for (int c = 0; c < D / 8; c++) {
            int i = threadIdx.x + c * threads, r = i / (D / 4), f = i % (D / 4) * 4;
            four x4 = {};
            if (from + r < n) x4 = load4(x, (long long)(from + r) * cols + f);
#pragma unroll
            for (int e = 0; e < 4; e++) x4.v[e] = roundTF32(x4.v[e]);
            store4(tile, r * stride + f, x4);
        }
    }

    DEVICE Left left(const float *mine) const {
        Left l;
#pragma unroll
        for (int k = 0; k < D / 8; k++) l.q[k] = quartersOf(mine + warp * 16 * stride + k * 8, stride);
        return l;
    }

    template <int W> DEVICE void scores(float (&s)[2][W / 4], const Left &l, const float *others) const {
#pragma unroll
        for (int j = 0; j < W / 4; j++) s[0][j] = s[1][j] = 0;
#pragma unroll
        for (int k = 0; k < D / 8; k++) {
#pragma unroll
            for (int c = 0; c < W / 16; c++) {
                quarters b = quartersOf(others + c * 16 * stride + k * 8, stride);
                multiplyTF32(&s[0][4 * c], &s[1][4 * c], l.q[k], b.v[0], b.v[2]);
                multiplyTF32(&s[0][4 * c + 2], &s[1][4 * c + 2], l.q[k], b.v[1], b.v[3]);
            }
        }
    }

    // add adds to sums the product of a, 16x8, and 8 others. Their order is even ones first: so the scores
    // that scores leaves to a lane are the elements of a that it needs. A lane's features are neighbours.
    DEVICE void add(float (&y)[2][D / 4], const quarters &a, const float *others) const {
        const float *even = others + 2 * t * stride + wide * g, *odd = even + stride;
#pragma unroll
        for (int f = 0; f < D / 8; f += wide) {
            Wide b0 = *(const Wide *)(even + 8 * f), b1 = *(const Wide *)(odd + 8 * f);
#pragma unroll
            for (int j = 0; j < wide; j++)
                multiplyTF32(&y[0][2 * (f + j)], &y[1][2 * (f + j)], a, __float_as_uint(b0.v[j]),
                             __float_as_uint(b1.v[j]));
        }
    }

    template <int W>
    DEVICE void gather(float (&y)[2][D / 4], const float (&s)[2][W / 4], const float *others) const {
#pragma unroll
        for (int j = 0; j < W / 4; j += 2) {
            quarters a;
#pragma unroll
            for (int i = 0; i < 4; i++) a.v[i] = __float_as_uint(roundTF32(s[i & 1][j + (i >> 1)]));
            add(y, a, others + 4 * j * stride);
        }
    }

    // turn stores the transpose of scores with W others from first on to a matrix [others][rows+4], the rows
    // in the order of add. gatherTurned adds to sums the product of the thread's rows of that matrix and
    // count rows.
    static constexpr int pitch = rows + 4;
    template <int W> DEVICE void turn(float *matrix, const float (&s)[2][W / 4], int first) const {
        int place = warp * 16 + (g >> 1) + 4 * (g & 1);
#pragma unroll
        for (int i = 0; i < 2; i++)
#pragma unroll
            for (int j = 0; j < W / 4; j++)
                matrix[(first + column(j)) * pitch + place + 8 * i] = roundTF32(s[i][j]);
    }
    DEVICE void gatherTurned(float (&y)[2][D / 4], const float *matrix, const float *others,
                             int count) const {
#pragma unroll 4
        for (int k = 0; k < count; k += 8)
            add(y, quartersOf(matrix + warp * 16 * pitch + k, pitch), others + k * stride);
    }

    DEVICE void put(float *y, int cols, int from, int n, const float (&sum)[2][D / 4],
                    const float (&factor)[2]) const {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            if (from + row(i) >= n) continue;
            float *p = y + (long long)(from + row(i)) * cols + 2 * t * wide;
#pragma unroll
            for (int f = 0; f < D / 8; f += wide) {
#pragma unroll
                for (int c = 0; c < 2; c++) {
                    Wide w;
#pragma unroll
                    for (int j = 0; j < wide; j++) w.v[j] = sum[i][2 * (f + j) + c] * factor[i];
                    if (wide == 4)
                        putFour(p + 8 * f + c * wide, w.v);
                    else
                        *(Wide *)(p + 8 * f + c * wide) = w;
                }
            }
        }
    }
};

// Singles computes with float32, in a block of 16 by 16 threads, heads of d features, a multiple of 4 and at
// most 64*FOURS.
template <int ROWS, int FOURS> struct Singles {
    typedef float Element;
    typedef const float *Left;
    static constexpr int rows = ROWS, threads = 256, lanes = 16, own = ROWS / 16, sums = 4 * FOURS,
                         step = ROWS;
    int d, stride, x, y;
    float *room; // [rows][rows+4], scores on their way to gather

    DEVICE Singles(int d, float *room)
        : d(d), stride(d + 4), x(threadIdx.x & 15), y(threadIdx.x >> 4), room(room) {}
    DEVICE int row(int i) const { return y + 16 * i; }
    DEVICE int column(int j) const { return x + 16 * j; }
    DEVICE int feature(int c) const { return 4 * (x + 16 * c); }

    template <typename T> DEVICE void fetch(float *tile, const T *from, int cols, int first, int n) const {
        for (int r = y; r < rows; r += 16) {
            for (int f = 4 * x; f < d; f += 64) {
                four v = {};
                if (first + r < n) v = load4(from, (long long)(first + r) * cols + f);
                store4(tile, r * stride + f, v);
            }
        }
    }

    DEVICE Left left(const float *mine) const { return mine; }

    template <int W> DEVICE void scores(float (&s)[own][W / 16], Left mine, const float *others) const {
        const int columns = W / 16;
#pragma unroll
        for (int i = 0; i < own; i++)
#pragma unroll
            for (int j = 0; j < columns; j++) s[i][j] = 0;
#pragma unroll 2
        for (int k = 0; k < d; k += 4) {
            four a[own], b[columns];
#pragma unroll
            for (int i = 0; i < own; i++) a[i] = load4(mine, row(i) * stride + k);
#pragma unroll
            for (int j = 0; j < columns; j++) b[j] = load4(others, column(j) * stride + k);
#pragma unroll
            for (int i = 0; i < own; i++)
#pragma unroll
                for (int j = 0; j < columns; j++)
#pragma unroll
                    for (int e = 0; e < 4; e++) s[i][j] = fmaf(a[i].v[e], b[j].v[e], s[i][j]);
        }
    }

    // gather needs no barrier of the block: the threads of a warp have whole rows.
    template <int W>
    DEVICE void gather(float (&sum)[own][sums], const float (&s)[own][W / 16], const float *others) const {
        __syncwarp();
#pragma unroll
        for (int i = 0; i < own; i++)
#pragma unroll
            for (int j = 0; j < W / 16; j++) room[row(i) * pitch + column(j)] = s[i][j];
        __syncwarp();
        gatherTurned(sum, room, others, W);
    }

    // turn stores the transpose of scores with W others from first on to a matrix [others][rows+4].
    // gatherTurned adds to sums the product of the thread's rows of that matrix and count rows, and up to
    // three zeros behind them.
    static constexpr int pitch = rows + 4;
    template <int W> DEVICE void turn(float *matrix, const float (&s)[own][W / 16], int first) const {
#pragma unroll
        for (int i = 0; i < own; i++)
#pragma unroll
            for (int j = 0; j < W / 16; j++) matrix[(first + column(j)) * pitch + row(i)] = s[i][j];
    }
    DEVICE void gatherTurned(float (&sum)[own][sums], const float *matrix, const float *others,
                             int count) const {
#pragma unroll 2
        for (int k = 0; k < count; k += 4) {
            four p[own];
#pragma unroll
            for (int i = 0; i < own; i++) p[i] = load4(matrix, row(i) * pitch + k);
#pragma unroll
            for (int e = 0; e < 4; e++)
#pragma unroll
                for (int c = 0; c < FOURS; c++) {
                    if (feature(c) >= d) continue;
                    four b = load4(others, (k + e) * stride + feature(c));
#pragma unroll
                    for (int i = 0; i < own; i++)
#pragma unroll
                        for (int f = 0; f < 4; f++)
                            sum[i][4 * c + f] = fmaf(p[i].v[e], b.v[f], sum[i][4 * c + f]);
                }
        }
    }

    template <typename T>
    DEVICE void put(T *to, int cols, int from, int n, const float (&sum)[own][sums],
                    const float (&factor)[own]) const {
#pragma unroll
        for (int i = 0; i < own; i++) {
            if (from + row(i) >= n) continue;
#pragma unroll
            for (int c = 0; c < FOURS; c++) {
                const float *s = &sum[i][4 * c];
                four v = {{s[0] * factor[i], s[1] * factor[i], s[2] * factor[i], s[3] * factor[i]}};
                if (feature(c) < d) putFour(to + (long long)(from + row(i)) * cols + feature(c), v.v);
            }
        }
    }
};
