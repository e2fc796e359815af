// What all kernels share: bf16, vectors of maps, sums over a warp and a block.
//
// Every kernel is extern "C" __global__, takes pointers first and scalars after them, and is named after the
// op, with _f32 or _bf16 behind it where maps are of that type. No kernel uses atomics: the order of every
// sum follows from the arguments. It compiles with NVRTC without any include path, and in tests as C++ for the
// processor (EMULATED), where emulate.h supplies what CUDA has built in.
#pragma once

typedef unsigned int u32;
typedef unsigned long long u64;

// bf16 is the upper half of a float32.
struct alignas(2) bf16 { unsigned short bits; };

#ifndef EMULATED
#define DEVICE __device__ __forceinline__
#define SHARED_ROOM(type, name) extern __shared__ __align__(16) char name##_room[]; type *name = (type *)name##_room
#define WHOLE_WARP 0xffffffffu
#define INFINITE __int_as_float(0x7f800000)

DEVICE bf16 narrow(float x) {
    bf16 y;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
}
DEVICE float widen(bf16 x) { return __uint_as_float((u32)x.bits << 16); }
#endif

// load and store read and write element i of a map of either type as float32.
DEVICE float load(const float *p, long long i) { return p[i]; }
DEVICE float load(const bf16 *p, long long i) { return widen(p[i]); }
DEVICE void store(float *p, long long i, float x) { p[i] = x; }
DEVICE void store(bf16 *p, long long i, float x) { p[i] = narrow(x); }

// Four elements at once; i counts elements and is a multiple of 4, p is aligned to 16 bytes.
struct four { float v[4]; };
DEVICE four load4(const float *p, long long i) {
    float4 q = *(const float4 *)(p + i);
    return {{q.x, q.y, q.z, q.w}};
}
DEVICE four load4(const bf16 *p, long long i) {
    uint2 q = *(const uint2 *)(p + i);
    return {{__uint_as_float(q.x << 16), __uint_as_float(q.x & 0xffff0000u), __uint_as_float(q.y << 16),
             __uint_as_float(q.y & 0xffff0000u)}};
}
DEVICE void store4(float *p, long long i, four x) {
    *(float4 *)(p + i) = make_float4(x.v[0], x.v[1], x.v[2], x.v[3]);
}
DEVICE void store4(bf16 *p, long long i, four x) {
    uint2 q;
    q.x = narrow(x.v[0]).bits | (u32)narrow(x.v[1]).bits << 16;
    q.y = narrow(x.v[2]).bits | (u32)narrow(x.v[3]).bits << 16;
    *(uint2 *)(p + i) = q;
}

// The sum and the maximum over the 32 lanes of a warp, in every lane; all lanes must call them.
DEVICE float warpSum(float x) {
    for (int o = 16; o > 0; o >>= 1) x += __shfl_xor_sync(WHOLE_WARP, x, o);
    return x;
}
DEVICE float warpMax(float x) {
    for (int o = 16; o > 0; o >>= 1) x = fmaxf(x, __shfl_xor_sync(WHOLE_WARP, x, o));
    return x;
}

// The sum over a block of at most 1024 threads, a multiple of 32, in every thread; room has 32 elements of
// shared memory. All threads must call it, and it may be called again at once.
DEVICE float blockSum(float x, float *room) {
    x = warpSum(x);
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = (blockDim.x + 31) >> 5;
    __syncthreads();
    if (lane == 0) room[warp] = x;
    __syncthreads();
    return warpSum(lane < warps ? room[lane] : 0.f);
}
