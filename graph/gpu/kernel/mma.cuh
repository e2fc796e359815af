// Products of tiles of bf16 or tf32 by a warp on tensor cores, with float32 sums.
//
// Lane 4g+t of a warp, g below 8 and t below 4, holds of a 16x8 tile of sums columns 2t and 2t+1 of the rows
// g and g+8, and of a 16x16 tile of factors four words, each a pair of a row: columns 2t and 2t+1 of row g of
// the tile's 8x8 quarters, those of the left side first. Tiles of factors lie in shared memory, with rows
// stride elements apart, a multiple of 8; an odd multiple keeps the quarters' rows in different banks.
//
// A tile of tf32 factors has half the columns, 16x8, and a word is one element: column t of row g of the 8x4
// quarters. A stride that is an odd multiple of 4 does for it what that of 8 does for bf16.
#pragma once

// Four words: the lane's part of a 16x16 tile of bf16 or a 16x8 tile of tf32.
struct quarters { u32 v[4]; };

#ifndef EMULATED
// together rounds two values to a word, lo in its lower half.
DEVICE u32 together(float lo, float hi) {
    u32 y;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(hi), "f"(lo));
    return y;
}

// laneRow is the row of a tile whose address the lane hands to ldmatrix.
DEVICE u32 laneRow(const bf16 *tile, int stride) {
    int lane = threadIdx.x & 31;
    return (u32)__cvta_generic_to_shared(tile + (lane & 15) * stride + (lane >> 4) * 8);
}

// quartersOf loads a tile; turnedOf loads each quarter transposed.
#define LOAD_QUARTERS(name, kind)                                                              \
    DEVICE quarters name(const bf16 *tile, int stride) {                                       \
        quarters q;                                                                            \
        asm volatile("ldmatrix.sync.aligned.m8n8.x4" kind ".shared.b16 {%0, %1, %2, %3}, [%4];" \
                     : "=r"(q.v[0]), "=r"(q.v[1]), "=r"(q.v[2]), "=r"(q.v[3])                  \
                     : "r"(laneRow(tile, stride))                                              \
                     : "memory");                                                              \
        return q;                                                                              \
    }
LOAD_QUARTERS(quartersOf, "")
LOAD_QUARTERS(turnedOf, ".trans")

// multiply adds to a 16x8 tile of sums, of which upper is the lane's pair of row g and lower that of row g+8,
// the product of a, 16x16, and the 16x8 factor whose transpose has the quarters b0 and b1 side by side.
DEVICE void multiply(float *upper, float *lower, const quarters &a, u32 b0, u32 b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(upper[0]), "+f"(upper[1]), "+f"(lower[0]), "+f"(lower[1])
        : "r"(a.v[0]), "r"(a.v[1]), "r"(a.v[2]), "r"(a.v[3]), "r"(b0), "r"(b1));
}

// roundTF32 rounds to the 10 bits behind the point that tensor cores read of a float32.
DEVICE float roundTF32(float x) {
    u32 y;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
    return __uint_as_float(y);
}

// quartersOf loads a tile of tf32: to ldmatrix four of them are a row of a quarter, like eight bf16.
DEVICE quarters quartersOf(const float *tile, int stride) {
    return quartersOf((const bf16 *)tile, 2 * stride);
}

// multiplyTF32 adds the product of a, 16x8, and the 8x8 factor whose transpose has the quarters b0 and b1.
DEVICE void multiplyTF32(float *upper, float *lower, const quarters &a, u32 b0, u32 b1) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(upper[0]), "+f"(upper[1]), "+f"(lower[0]), "+f"(lower[1])
        : "r"(a.v[0]), "r"(a.v[1]), "r"(a.v[2]), "r"(a.v[3]), "r"(b0), "r"(b1));
}
#else
DEVICE u32 joined(bf16 lo, bf16 hi) { return lo.bits | (u32)hi.bits << 16; }
DEVICE u32 together(float lo, float hi) { return joined(narrow(lo), narrow(hi)); }

DEVICE quarters quartersOf(const bf16 *tile, int stride) {
    int g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3;
    quarters q;
    for (int i = 0; i < 4; i++) {
        const bf16 *p = tile + ((i & 1) * 8 + g) * stride + (i >> 1) * 8 + 2 * t;
        q.v[i] = joined(p[0], p[1]);
    }
    return q;
}
DEVICE quarters turnedOf(const bf16 *tile, int stride) {
    int g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3;
    quarters q;
    for (int i = 0; i < 4; i++) {
        const bf16 *p = tile + ((i & 1) * 8 + 2 * t) * stride + (i >> 1) * 8 + g;
        q.v[i] = joined(p[0], p[stride]);
    }
    return q;
}

// dotPairs adds the product of two pairs.
DEVICE float dotPairs(float sum, u32 a, u32 b) {
    bf16 a0 = {(unsigned short)a}, a1 = {(unsigned short)(a >> 16)};
    bf16 b0 = {(unsigned short)b}, b1 = {(unsigned short)(b >> 16)};
    return sum + widen(a0) * widen(b0) + widen(a1) * widen(b1);
}

// multiplyWith adds the product of a and b0 and b1 by DOT, which adds that of two words.
template <float DOT(float, u32, u32)>
DEVICE void multiplyWith(float *upper, float *lower, const quarters &a, u32 b0, u32 b1) {
    int g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3;
    for (int half = 0; half < 2; half++) {
        for (int k = 0; k < 4; k++) {
            u32 up = __shfl_sync(WHOLE_WARP, a.v[2 * half], 4 * g + k);
            u32 low = __shfl_sync(WHOLE_WARP, a.v[2 * half + 1], 4 * g + k);
            for (int j = 0; j < 2; j++) {
                u32 b = __shfl_sync(WHOLE_WARP, half ? b1 : b0, 4 * (2 * t + j) + k);
                upper[j] = DOT(upper[j], up, b);
                lower[j] = DOT(lower[j], low, b);
            }
        }
    }
}
DEVICE void multiply(float *upper, float *lower, const quarters &a, u32 b0, u32 b1) {
    multiplyWith<dotPairs>(upper, lower, a, b0, b1);
}

DEVICE float roundTF32(float x) {
    return x - x == 0 ? __uint_as_float((__float_as_uint(x) + 0x1000) & 0xffffe000) : x;
}

DEVICE quarters quartersOf(const float *tile, int stride) {
    int g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3;
    quarters q;
    for (int i = 0; i < 4; i++)
        q.v[i] = __float_as_uint(tile[((i & 1) * 8 + g) * stride + (i >> 1) * 4 + t]);
    return q;
}

// dotTF32 does not see the lower bits of its factors.
DEVICE float dotTF32(float sum, u32 a, u32 b) {
    return sum + __uint_as_float(a & 0xffffe000) * __uint_as_float(b & 0xffffe000);
}
DEVICE void multiplyTF32(float *upper, float *lower, const quarters &a, u32 b0, u32 b1) {
    multiplyWith<dotTF32>(upper, lower, a, b0, b1);
}
#endif
