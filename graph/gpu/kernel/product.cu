// Convolutions and products of matrices in float32, without a library.
//
// Letters: N batch, H W map, C channels, K filters, R S filter; the result of a convolution is OH x OW. Maps
// are [N, H, W, C] and filters [R, S, C, K]. A linear layer is a convolution of maps of one pixel.
//
// Each pass is a product of matrices, of which the left one is not stored but gathered:
//
//            rows      columns  depth
//   forward  N OH OW   K        R S C
//   data     N H W     C        R S K
//   weights  R S C     K        N OH OW
//
// A block computes a tile of the result, in steps over the depth: while one step is multiplied from shared
// memory, the next one is on its way in registers. The depth may be split into parts, whose sums go to scratch
// and are then added in order.
//
// Note: classes. With a stride the pixels of dx fall into stride x stride classes, by their coordinates modulo
// the stride: those of a class meet the same filter taps. Each class is a product of its own, with a depth of
// only these taps; the block's z counts them.
#include "base.cuh"

// MEMBER stands in front of members of classes, as DEVICE does in front of functions.
#define MEMBER __device__ __forceinline__

struct Conv { int n, h, w, c, k, r, s, stride, pad, oh, ow; };

// What is done besides the product: bits of the argument flags.
constexpr int RELU = 1, ADD = 2, HALF = 4;

// Tiles: M x N of the result in steps of D, by THREADS that hold TM x TN each.
struct Large {
    static constexpr bool STRIDES = false; // in pass data; that would take more registers than there are
    static constexpr int M = 128, N = 128, D = 8, TM = 8, TN = 8, THREADS = 256, BLOCKS = 2;
    static constexpr int LEFT = M * D / 4 / THREADS, RIGHT = N * D / 4 / THREADS;
};
struct Deep { // half as many barriers, with no register to spare
    static constexpr bool STRIDES = false;
    static constexpr int M = 128, N = 128, D = 16, TM = 8, TN = 8, THREADS = 256, BLOCKS = 2;
    static constexpr int LEFT = M * D / 4 / THREADS, RIGHT = N * D / 4 / THREADS;
};
struct Tall { // for few columns
    static constexpr bool STRIDES = false;
    static constexpr int M = 128, N = 64, D = 16, TM = 8, TN = 8, THREADS = 128, BLOCKS = 3;
    static constexpr int LEFT = M * D / 4 / THREADS, RIGHT = N * D / 4 / THREADS;
};
struct Small {
    static constexpr bool STRIDES = true;
    static constexpr int M = 64, N = 64, D = 16, TM = 8, TN = 4, THREADS = 128, BLOCKS = 4;
    static constexpr int LEFT = M * D / 4 / THREADS, RIGHT = N * D / 4 / THREADS;
};

// Digits are an index over three axes, a the outermost.
struct Digits { int a, b, c; };

DEVICE Digits split(int i, int sizeB, int sizeC) {
    int c = i % sizeC, rest = i / sizeC;
    return {rest / sizeB, rest % sizeB, c};
}
DEVICE void advance(Digits &d, Digits step, int sizeB, int sizeC) {
    d.c += step.c;
    int carry = d.c >= sizeC;
    d.c -= carry ? sizeC : 0;
    d.b += step.b + carry;
    carry = d.b >= sizeB;
    d.b -= carry ? sizeB : 0;
    d.a += step.a + carry;
}

// loadRow reads four elements in a row, of which only the first left ones are there; with VEC all or none.
template <bool VEC, typename T> DEVICE four loadRow(const T *p, long long i, int left) {
    four v = {{0.f, 0.f, 0.f, 0.f}};
    if constexpr (VEC) {
        if (left > 0) v = load4(p, i);
    } else {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            if (j < left) v.v[j] = load(p, i + j);
        }
    }
    return v;
}

// storeRow writes the first left of four elements in a row; with VEC all.
template <bool VEC, typename T> DEVICE void storeRow(T *p, long long i, four v, int left) {
    if constexpr (VEC) {
        store4(p, i, v);
    } else {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            if (j < left) store(p, i + j, v.v[j]);
        }
    }
}

// Window gathers rows of the left matrix from a map [n, h, w, c]. Element (tap, channel) of a row is that of the
// pixel that lies tap steps from the row's corner, forwards (SIGN 1) or backwards (-1); 0 outside of the map.
template <typename T, bool VEC, int SIGN, int ROWS> struct Window {
    const T *map;
    int h, w, c, tapsX;
    int base[ROWS], y[ROWS], x[ROWS];
    Digits at, step;

    // begin starts at a position of the depth; each next is depthStep further on.
    MEMBER void begin(int position, int depthStep) {
        at = split(position, tapsX, c);
        step = split(depthStep, tapsX, c);
    }
    MEMBER void corner(int row, int n, int y0, int x0) {
        base[row] = n * h * w * c;
        y[row] = y0;
        x[row] = x0;
    }
    MEMBER void nowhere(int row) { corner(row, 0, -(1 << 28), -(1 << 28)); }
    MEMBER void next() { advance(at, step, tapsX, c); }

    // get reads four elements of a row, of which only the first left are there.
    MEMBER four get(int row, int left) const {
        four v = {{0.f, 0.f, 0.f, 0.f}};
        Digits d = at;
#pragma unroll
        for (int j = 0; j < (VEC ? 1 : 4); j++) {
            int py = y[row] + SIGN * d.a, px = x[row] + SIGN * d.b;
            if (j < left && (u32)py < (u32)h && (u32)px < (u32)w) {
                int i = base[row] + (py * w + px) * c + d.c;
                if constexpr (VEC) v = load4(map, i);
                else v.v[j] = load(map, i);
            }
            if (!VEC) advance(d, {0, 0, 1}, tapsX, c);
        }
        return v;
    }
};

// The passes. Each has the size of its product and reads the two matrices of a step: left and right hold four
// elements in a row of the depth if ..._ACROSS, else of the rows or columns.

template <typename T, bool VEC, typename B> struct Forward {
    static constexpr bool LEFT_ACROSS = true, RIGHT_ACROSS = false;
    Conv s;
    const float *filter;
    int rows, cols, depth, at, end, column;
    Window<T, VEC, 1, B::LEFT> window;

    MEMBER Forward(Conv s, const T *x, const float *filter, int) : s(s), filter(filter) {
        rows = s.n * s.oh * s.ow;
        cols = s.k;
        depth = s.r * s.s * s.c;
        window.map = x;
        window.h = s.h;
        window.w = s.w;
        window.c = s.c;
        window.tapsX = s.s;
    }
    MEMBER void begin(int row, int col, int from, int to) {
        at = from;
        end = to;
        column = col + threadIdx.x % (B::N / 4) * 4;
        window.begin(from + threadIdx.x % (B::D / 4) * 4, B::D);
#pragma unroll
        for (int i = 0; i < B::LEFT; i++) {
            int m = row + (threadIdx.x + i * B::THREADS) / (B::D / 4);
            Digits p = split(m, s.oh, s.ow);
            window.corner(i, p.a, p.b * s.stride - s.pad, p.c * s.stride - s.pad);
            if (m >= rows) window.nowhere(i);
        }
    }
    MEMBER void get(four *left, four *right) {
        int rest = end - at - (int)(threadIdx.x % (B::D / 4) * 4);
#pragma unroll
        for (int i = 0; i < B::LEFT; i++) left[i] = window.get(i, rest);
#pragma unroll
        for (int i = 0; i < B::RIGHT; i++) {
            int d = at + (threadIdx.x + i * B::THREADS) / (B::N / 4);
            right[i] = loadRow<VEC>(filter, d * cols + column, d < end ? cols - column : 0);
        }
        at += B::D;
        window.next();
    }
    MEMBER int place(int row) const { return row; }
};

template <typename T, bool VEC, typename B> struct Data {
    static constexpr bool LEFT_ACROSS = true, RIGHT_ACROSS = true;
    Conv s;
    const float *filter;
    int rows, cols, depth, at, end, column;
    int py, px, classH, classW; // the class of pixels, and how many of them a map has
    int tapY, tapX;             // the first filter tap that they meet
    int tapRow, tapCol, start;  // from tap to tap in the filter, and from its start to the first one
    Window<T, VEC, -1, B::LEFT> window;

    MEMBER Data(Conv shape, const T *dy, const float *filter, int number) : s(shape), filter(filter) {
        if (!B::STRIDES) s.stride = 1;
        py = number / s.stride;
        px = number % s.stride;
        classH = (s.h - py + s.stride - 1) / s.stride;
        classW = (s.w - px + s.stride - 1) / s.stride;
        tapY = (py + s.pad) % s.stride;
        tapX = (px + s.pad) % s.stride;
        rows = s.n * classH * classW;
        cols = s.c;
        window.map = dy;
        window.h = s.oh;
        window.w = s.ow;
        window.c = s.k;
        window.tapsX = max(s.s - tapX + s.stride - 1, 0) / s.stride;
        depth = max(s.r - tapY + s.stride - 1, 0) / s.stride * window.tapsX * s.k;
    }
    MEMBER void begin(int row, int col, int from, int to) {
        at = from;
        end = to;
        column = col + threadIdx.x / (B::D / 4);
        tapCol = s.stride * s.c * s.k;
        tapRow = s.s * tapCol;
        start = ((tapY * s.s + tapX) * s.c + column) * s.k;
        window.begin(from + threadIdx.x % (B::D / 4) * 4, B::D);
        int y0 = (py + s.pad - tapY) / s.stride, x0 = (px + s.pad - tapX) / s.stride;
#pragma unroll
        for (int i = 0; i < B::LEFT; i++) {
            int m = row + (threadIdx.x + i * B::THREADS) / (B::D / 4);
            Digits p = split(m, classH, classW);
            window.corner(i, p.a, p.b + y0, p.c + x0);
            if (m >= rows) window.nowhere(i);
        }
    }
    MEMBER void get(four *left, four *right) {
        int rest = end - at - (int)(threadIdx.x % (B::D / 4) * 4);
#pragma unroll
        for (int i = 0; i < B::LEFT; i++) left[i] = window.get(i, rest);
#pragma unroll
        for (int i = 0; i < B::RIGHT; i++) right[i] = taps(i * (B::THREADS / (B::D / 4)), rest);
        at += B::D;
        window.next();
    }
    // taps returns the weights of input channel column + c for four elements of the depth.
    MEMBER four taps(int c, int rest) const {
        four v = {{0.f, 0.f, 0.f, 0.f}};
        Digits d = window.at;
#pragma unroll
        for (int j = 0; j < (VEC ? 1 : 4); j++) {
            if (j < rest && column + c < cols) {
                int i = start + c * s.k + d.a * tapRow + d.b * tapCol + d.c;
                if constexpr (VEC) v = load4(filter, i);
                else v.v[j] = filter[i];
            }
            if (!VEC) advance(d, {0, 0, 1}, window.tapsX, s.k);
        }
        return v;
    }
    // place returns which pixel of dx a row is.
    MEMBER int place(int row) const {
        if (s.stride == 1) return row;
        Digits p = split(row, classH, classW);
        return (p.a * s.h + p.b * s.stride + py) * s.w + p.c * s.stride + px;
    }
};

template <typename T, bool VEC, typename B> struct Weights {
    static constexpr bool LEFT_ACROSS = false, RIGHT_ACROSS = false;
    Conv s;
    const T *x, *dy;
    int rows, cols, depth, at, end, row, column;
    Digits tap;                  // of the first of the thread's four rows
    Digits pixel[B::LEFT], step; // of the result's map

    MEMBER Weights(Conv s, const T *x, const T *dy, int) : s(s), x(x), dy(dy) {
        rows = s.r * s.s * s.c;
        cols = s.k;
        depth = s.n * s.oh * s.ow;
    }
    MEMBER void begin(int firstRow, int col, int from, int to) {
        at = from;
        end = to;
        row = firstRow + threadIdx.x % (B::M / 4) * 4;
        column = col + threadIdx.x % (B::N / 4) * 4;
        tap = split(row, s.s, s.c);
        step = split(B::D, s.oh, s.ow);
#pragma unroll
        for (int i = 0; i < B::LEFT; i++) {
            pixel[i] = split(from + (threadIdx.x + i * B::THREADS) / (B::M / 4), s.oh, s.ow);
        }
    }
    MEMBER void get(four *left, four *right) {
#pragma unroll
        for (int i = 0; i < B::LEFT; i++) {
            int p = at + (threadIdx.x + i * B::THREADS) / (B::M / 4);
            left[i] = inputs(pixel[i], p < end ? rows - row : 0);
            advance(pixel[i], step, s.oh, s.ow);
        }
#pragma unroll
        for (int i = 0; i < B::RIGHT; i++) {
            int p = at + (threadIdx.x + i * B::THREADS) / (B::N / 4);
            right[i] = loadRow<VEC>(dy, p * cols + column, p < end ? cols - column : 0);
        }
        at += B::D;
    }
    // inputs returns what four weights in a row are multiplied with at pixel p of the result.
    MEMBER four inputs(Digits p, int left) const {
        four v = {{0.f, 0.f, 0.f, 0.f}};
        Digits d = tap;
        int y0 = p.b * s.stride - s.pad, x0 = p.c * s.stride - s.pad;
#pragma unroll
        for (int j = 0; j < (VEC ? 1 : 4); j++) {
            int py = y0 + d.a, px = x0 + d.b;
            if (j < left && (u32)py < (u32)s.h && (u32)px < (u32)s.w) {
                int i = ((p.a * s.h + py) * s.w + px) * s.c + d.c;
                if constexpr (VEC) v = load4(x, i);
                else v.v[j] = load(x, i);
            }
            if (!VEC) advance(d, {0, 0, 1}, s.s, s.c);
        }
        return v;
    }
    MEMBER int place(int row) const { return row; }
};

// keep puts a thread's part of a step into shared memory, [D][PITCH]. ROW is how many threads read a row.
template <bool ACROSS, int SIZE, typename B, int COUNT> DEVICE void keep(float *room, const four *v) {
    constexpr int PITCH = SIZE + 4, ROW = ACROSS ? B::D / 4 : SIZE / 4;
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        int row = (threadIdx.x + i * B::THREADS) / ROW, col = threadIdx.x % ROW * 4;
        if constexpr (ACROSS) {
#pragma unroll
            for (int j = 0; j < 4; j++) room[(col + j) * PITCH + row] = v[i].v[j];
        } else {
            store4(room, row * PITCH + col, v[i]);
        }
    }
}

// finish writes the first left of four elements in a row of the result, from element i on. bias, if there is
// one, starts at their column.
template <bool VEC> DEVICE void finish(void *y, long long i, four v, int left, const float *bias, int flags) {
    if (bias) {
        four b = loadRow<VEC>(bias, 0, left);
#pragma unroll
        for (int j = 0; j < 4; j++) v.v[j] += b.v[j];
    }
    if (flags & ADD) {
        four old = flags & HALF ? loadRow<VEC>((bf16 *)y, i, left) : loadRow<VEC>((float *)y, i, left);
#pragma unroll
        for (int j = 0; j < 4; j++) v.v[j] += old.v[j];
    }
    if (flags & RELU) {
#pragma unroll
        for (int j = 0; j < 4; j++) v.v[j] = fmaxf(v.v[j], 0.f);
    }
    if (flags & HALF) {
        storeRow<VEC>((bf16 *)y, i, v, left);
    } else {
        storeRow<VEC>((float *)y, i, v, left);
    }
}

// tileSum adds one step of the depth to the thread's TM x TN sums: four rows every 16 rows, and four columns
// every 32 columns, from where left and right start. A warp covers 4 TM x 8 TN.
template <typename B> DEVICE void tileSum(float (*sum)[B::TN], const float *left, const float *right) {
#pragma unroll
    for (int d = 0; d < B::D; d++) {
        four a[B::TM / 4], b[B::TN / 4];
#pragma unroll
        for (int i = 0; i < B::TM / 4; i++) a[i] = load4(left, d * (B::M + 4) + 16 * i);
#pragma unroll
        for (int j = 0; j < B::TN / 4; j++) b[j] = load4(right, d * (B::N + 4) + 32 * j);
#pragma unroll
        for (int i = 0; i < B::TM; i++) {
#pragma unroll
            for (int j = 0; j < B::TN; j++) sum[i][j] += a[i / 4].v[i % 4] * b[j / 4].v[j % 4];
        }
    }
}

// multiply computes the block's tile. Blocks count, in x, tiles of columns and then of rows; in z parts and
// then classes. With parts the sums go to partial, [parts, size].
template <bool VEC, typename B, typename P>
DEVICE void multiply(P p, void *y, const float *bias, float *partial, int part, int parts, int size,
                     int flags) {
    int across = (p.cols + B::N - 1) / B::N;
    int row = blockIdx.x / across * B::M, col = blockIdx.x % across * B::N;
    if (row >= p.rows) return;
    int steps = (p.depth + B::D - 1) / B::D, perPart = (steps + parts - 1) / parts;
    int first = min(part * perPart, steps), last = min(first + perPart, steps);
    constexpr int LEFT = B::D * (B::M + 4), ROOM = LEFT + B::D * (B::N + 4);
    SHARED_ROOM(float, room);
    four left[B::LEFT], right[B::RIGHT];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = B::N / (8 * B::TN);
    int rowAt = warp / warps * 4 * B::TM + lane / 8 * 4, colAt = warp % warps * 8 * B::TN + lane % 8 * 4;
    float sum[B::TM][B::TN];
#pragma unroll
    for (int i = 0; i < B::TM * B::TN; i++) sum[i / B::TN][i % B::TN] = 0.f;

    if (first < last) {
        p.begin(row, col, first * B::D, min(last * B::D, p.depth));
        p.get(left, right);
    }
    for (int s = first; s < last; s++) {
        float *now = room + (s & 1) * ROOM;
        keep<P::LEFT_ACROSS, B::M, B, B::LEFT>(now, left);
        keep<P::RIGHT_ACROSS, B::N, B, B::RIGHT>(now + LEFT, right);
        __syncthreads(); // all have multiplied the step before last, whose room the next step takes
        if (s + 1 < last) p.get(left, right);
        tileSum<B>(sum, now + rowAt, now + LEFT + colAt);
    }

    if (parts > 1) {
        y = partial + (long long)part * size;
        bias = nullptr;
        flags = 0;
    }
#pragma unroll
    for (int i = 0; i < B::TM; i++) {
        int m = row + rowAt + i / 4 * 16 + i % 4;
        if (m >= p.rows) continue;
        long long start = (long long)p.place(m) * p.cols;
#pragma unroll
        for (int j = 0; j < B::TN; j += 4) {
            int n = col + colAt + j / 4 * 32;
            four v = {{sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]}};
            if (n < p.cols) finish<VEC>(y, start + n, v, p.cols - n, bias ? bias + n : bias, flags);
        }
    }
}

#define PRODUCT(name, Pass, T, Right, VEC, Tile)                                                              \
    extern "C" __global__ void __launch_bounds__(Tile::THREADS, Tile::BLOCKS)                                 \
        name(void *y, const T *left, const Right *right, const float *bias, float *partial, int n, int h,     \
             int w, int c, int k, int r, int s, int stride, int pad, int oh, int ow, int parts, int size,     \
             int flags) {                                                                                     \
        Conv conv = {n, h, w, c, k, r, s, stride, pad, oh, ow};                                               \
        Pass<T, VEC, Tile> p(conv, left, right, blockIdx.z / parts);                                          \
        multiply<VEC, Tile>(p, y, bias, partial, blockIdx.z % parts, parts, size, flags);                     \
    }

// VARIANTS has tiles for C and K that are multiples of 4, and one for any.
#define VARIANTS(name, Pass, T, Right, suffix)                      \
    PRODUCT(name##_large##suffix, Pass, T, Right, true, Large)      \
    PRODUCT(name##_small##suffix, Pass, T, Right, true, Small)      \
    PRODUCT(name##_any##suffix, Pass, T, Right, false, Small)

VARIANTS(product_forward, Forward, float, float, _f32)
VARIANTS(product_forward, Forward, bf16, float, _bf16)
VARIANTS(product_data, Data, float, float, _f32)
VARIANTS(product_data, Data, bf16, float, _bf16)
VARIANTS(product_weights, Weights, float, float, _f32)
VARIANTS(product_weights, Weights, bf16, bf16, _bf16)

PRODUCT(product_forward_deep_f32, Forward, float, float, true, Deep)
PRODUCT(product_forward_tall_f32, Forward, float, float, true, Tall)
PRODUCT(product_data_deep_f32, Data, float, float, true, Deep)
PRODUCT(product_data_tall_f32, Data, float, float, true, Tall)
PRODUCT(product_weights_deep_f32, Weights, float, float, true, Deep)
PRODUCT(product_weights_tall_f32, Weights, float, float, true, Tall)

// sumParts adds elements of all parts in order, four at once with VEC, and finishes them.
template <bool VEC>
DEVICE void sumParts(void *y, const float *partial, const float *bias, int cols, int parts, int size,
                     int flags) {
    constexpr int COUNT = VEC ? 4 : 1;
    long long i = (long long)COUNT * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= size) return;
    four v = {{0.f, 0.f, 0.f, 0.f}};
    for (int p = 0; p < parts; p++) {
        four q = loadRow<VEC>(partial + (long long)p * size, i, 1);
#pragma unroll
        for (int j = 0; j < COUNT; j++) v.v[j] += q.v[j];
    }
    finish<VEC>(y, i, v, 1, bias ? bias + i % cols : bias, flags);
}

// These finish a product whose depth was split into parts; the first one takes cols that are multiples of 4.
extern "C" __global__ void product_finish(void *y, const float *partial, const float *bias, int cols,
                                          int parts, int size, int flags) {
    sumParts<true>(y, partial, bias, cols, parts, size, flags);
}
extern "C" __global__ void product_finish_any(void *y, const float *partial, const float *bias, int cols,
                                              int parts, int size, int flags) {
    sumParts<false>(y, partial, bias, cols, parts, size, flags);
}
