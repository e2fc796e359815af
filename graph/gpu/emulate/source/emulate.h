// What CUDA has built in, for kernels that are compiled as C++ for the processor. It is included in front of
// each file of kernels, and declares the few functions of the C library that kernels use instead of including
// that library's headers, whose names would collide.
#pragma once

#define __global__ __attribute__((used))
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __constant__ static
#define __shared__ static
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
#define DEVICE inline
#define SHARED_ROOM(type, name) type *name = (type *)emulatedRoom
#define WHOLE_WARP 0xffffffffu
#define INFINITE __builtin_inff()

typedef __SIZE_TYPE__ size_t;

// fmaxf and fminf of the C library may differ from CUDA's for what is no number.
#define fmaxf emulatedMax
#define fminf emulatedMin

struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x, y, z; };
struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(8) int2 { int x, y; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(4) ushort2 { unsigned short x, y; };
struct alignas(8) ushort4 { unsigned short x, y, z, w; };
struct float3 { float x, y, z; };
struct int3 { int x, y, z; };

static inline float2 make_float2(float x, float y) { return {x, y}; }
static inline float3 make_float3(float x, float y, float z) { return {x, y, z}; }
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
static inline int2 make_int2(int x, int y) { return {x, y}; }
static inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
static inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
static inline ushort4 make_ushort4(unsigned short x, unsigned short y, unsigned short z, unsigned short w) {
    return {x, y, z, w};
}

// The driver runs the blocks of a kernel one after the other, and sets these.
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
static const int warpSize = 32;

// emulatedRoom is the dynamic shared memory of the block.
alignas(128) extern char emulatedRoom[];

extern "C" {
void emulatedBlockBarrier();
// All lanes of mask that still run must call emulatedExchange together: each gives a word and gets those of
// all lanes, with a pattern that is no number for lanes that take no part. given is the lanes that do.
const unsigned *emulatedExchange(unsigned mask, unsigned word, unsigned *given);
unsigned emulatedLane();
}

static inline void __syncthreads() { emulatedBlockBarrier(); }
static inline void __syncwarp(unsigned mask = WHOLE_WARP) {
    unsigned given;
    emulatedExchange(mask, 0, &given);
}
static inline void __threadfence() {}
static inline void __threadfence_block() {}

template <typename T> static inline T emulatedFrom(unsigned mask, T x, unsigned lane) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "words of 4 or 8 bytes");
    unsigned words[sizeof(T) / 4], given;
    __builtin_memcpy(words, &x, sizeof(T));
    for (unsigned i = 0; i < sizeof(T) / 4; i++) words[i] = emulatedExchange(mask, words[i], &given)[lane];
    __builtin_memcpy(&x, words, sizeof(T));
    return x;
}
template <typename T> static inline T __shfl_sync(unsigned mask, T x, int from, int width = 32) {
    unsigned lane = emulatedLane();
    return emulatedFrom(mask, x, (lane & ~(width - 1)) | (from & (width - 1)));
}
template <typename T> static inline T __shfl_xor_sync(unsigned mask, T x, int flip, int width = 32) {
    unsigned lane = emulatedLane(), to = lane ^ flip;
    return emulatedFrom(mask, x, to >= (lane & ~(width - 1)) + width ? lane : to);
}
template <typename T> static inline T __shfl_down_sync(unsigned mask, T x, unsigned by, int width = 32) {
    unsigned lane = emulatedLane();
    return emulatedFrom(mask, x, (lane & (width - 1)) + by < (unsigned)width ? lane + by : lane);
}
template <typename T> static inline T __shfl_up_sync(unsigned mask, T x, unsigned by, int width = 32) {
    unsigned lane = emulatedLane();
    return emulatedFrom(mask, x, (lane & (width - 1)) >= by ? lane - by : lane);
}
static inline unsigned __ballot_sync(unsigned mask, int yes) {
    unsigned given, ballot = 0;
    const unsigned *all = emulatedExchange(mask, yes != 0, &given);
    for (int i = 0; i < 32; i++)
        if (given >> i & 1 && all[i]) ballot |= 1u << i;
    return ballot;
}
static inline int __any_sync(unsigned mask, int yes) { return __ballot_sync(mask, yes) != 0; }
static inline int __all_sync(unsigned mask, int yes) { return __ballot_sync(mask, !yes) == 0; }
static inline unsigned __activemask() { return WHOLE_WARP; }

template <typename To, typename From> static inline To emulatedBits(From x) {
    To y;
    static_assert(sizeof x == sizeof y, "as many bits");
    __builtin_memcpy(&y, &x, sizeof y);
    return y;
}
static inline unsigned __float_as_uint(float x) { return emulatedBits<unsigned>(x); }
static inline int __float_as_int(float x) { return emulatedBits<int>(x); }
static inline float __uint_as_float(unsigned x) { return emulatedBits<float>(x); }
static inline float __int_as_float(int x) { return emulatedBits<float>(x); }

// The C library's functions of float.
extern "C" {
float expf(float) noexcept(true);
float exp2f(float) noexcept(true);
float expm1f(float) noexcept(true);
float logf(float) noexcept(true);
float log2f(float) noexcept(true);
float log10f(float) noexcept(true);
float log1pf(float) noexcept(true);
float powf(float, float) noexcept(true);
float sqrtf(float) noexcept(true);
float tanhf(float) noexcept(true);
float erff(float) noexcept(true);
float erfcf(float) noexcept(true);
float sinf(float) noexcept(true);
float cosf(float) noexcept(true);
float fabsf(float) noexcept(true);
float floorf(float) noexcept(true);
float ceilf(float) noexcept(true);
float truncf(float) noexcept(true);
float rintf(float) noexcept(true);
float roundf(float) noexcept(true);
float fmodf(float, float) noexcept(true);
float copysignf(float, float) noexcept(true);
float fmaf(float, float, float) noexcept(true);
double sqrt(double) noexcept(true);
void *memcpy(void *, const void *, size_t) noexcept(true);
void *memset(void *, int, size_t) noexcept(true);
}
// A number wins over what is no number, as in CUDA.
static inline float fmaxf(float a, float b) { return a != a ? b : b != b || a > b ? a : b; }
static inline float fminf(float a, float b) { return a != a ? b : b != b || a < b ? a : b; }
static inline bool isnan(float x) { return x != x; }
static inline bool isinf(float x) { return __builtin_isinf(x); }
static inline float rsqrtf(float x) { return 1.f / __builtin_sqrtf(x); }

static inline float __expf(float x) { return expf(x); }
static inline float __exp2f(float x) { return exp2f(x); }
static inline float __logf(float x) { return logf(x); }
static inline float __log2f(float x) { return log2f(x); }
static inline float __fdividef(float a, float b) { return a / b; }
static inline float __powf(float a, float b) { return powf(a, b); }
static inline float __tanhf(float x) { return tanhf(x); }
static inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
static inline float __frcp_rn(float x) { return 1.f / x; }
static inline float __frsqrt_rn(float x) { return 1.f / __builtin_sqrtf(x); }
static inline float __int2float_rn(int x) { return (float)x; }
static inline float __uint2float_rn(unsigned x) { return (float)x; }
static inline float __saturatef(float x) { return x > 0.f ? x < 1.f ? x : 1.f : 0.f; }

#define EMULATED_MINMAX(T)                                          \
    static inline T min(T a, T b) { return b < a ? b : a; }         \
    static inline T max(T a, T b) { return a < b ? b : a; }
EMULATED_MINMAX(int)
EMULATED_MINMAX(unsigned)
EMULATED_MINMAX(long)
EMULATED_MINMAX(unsigned long)
EMULATED_MINMAX(long long)
EMULATED_MINMAX(unsigned long long)
static inline float min(float a, float b) { return fminf(a, b); }
static inline float max(float a, float b) { return fmaxf(a, b); }
static inline unsigned min(int a, unsigned b) { return min((unsigned)a, b); }
static inline unsigned min(unsigned a, int b) { return min(a, (unsigned)b); }
static inline unsigned max(int a, unsigned b) { return max((unsigned)a, b); }
static inline unsigned max(unsigned a, int b) { return max(a, (unsigned)b); }
static inline long long min(long long a, int b) { return min(a, (long long)b); }
static inline long long min(int a, long long b) { return min((long long)a, b); }
static inline long long max(long long a, int b) { return max(a, (long long)b); }
static inline long long max(int a, long long b) { return max((long long)a, b); }
static inline int abs(int x) { return x < 0 ? -x : x; }

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __mul24(int a, int b) { return a * b; }
static inline unsigned __umul24(unsigned a, unsigned b) { return a * b; }
static inline int __mulhi(int a, int b) { return (long long)a * b >> 32; }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned long long)a * b >> 32; }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
    return (unsigned)((((unsigned long long)high << 32 | low) << (by & 31)) >> 32);
}
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
    return (unsigned)(((unsigned long long)high << 32 | low) >> (by & 31));
}
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned which) {
    unsigned long long all = (unsigned long long)b << 32 | a;
    unsigned y = 0;
    for (int i = 0; i < 4; i++) y |= (unsigned)(all >> 8 * (which >> 4 * i & 7) & 0xff) << 8 * i;
    return y;
}
template <typename T> static inline T __ldg(const T *p) { return *p; }
template <typename T> static inline T __ldcs(const T *p) { return *p; }
template <typename T> static inline T __ldcg(const T *p) { return *p; }
template <typename T> static inline void __stcs(T *p, T x) { *p = x; }
template <typename T> static inline void __stcg(T *p, T x) { *p = x; }

// EMULATED_CONVERSIONS are those of base.cuh, which defines the type: to the nearest, ties to even.
#define EMULATED_CONVERSIONS                                                                                 \
    struct bf16;                                                                                             \
    template <typename T = bf16> inline T narrow(float x) {                                                  \
        unsigned u = __float_as_uint(x);                                                                     \
        T y;                                                                                                 \
        y.bits = x != x ? 0x7fff : (unsigned short)((u + 0x7fff + (u >> 16 & 1)) >> 16);                     \
        return y;                                                                                            \
    }                                                                                                        \
    template <typename T> inline float widen(T x) { return __uint_as_float((unsigned)x.bits << 16); }

// The driver finds kernels by name. A call unpacks the arguments; sizes are theirs, in order.
typedef void (*EmulatedCall)(const void *const *params);
extern "C" void emulatedRegister(const char *name, EmulatedCall call, int count, const int *sizes);

template <int... I> struct EmulatedNumbers {};
template <int N, int... I> struct EmulatedCount : EmulatedCount<N - 1, N - 1, I...> {};
template <int... I> struct EmulatedCount<0, I...> { typedef EmulatedNumbers<I...> type; };

template <auto kernel> struct EmulatedKernel;
template <typename... A, void (*kernel)(A...)> struct EmulatedKernel<kernel> {
    template <int... I> static void spread(const void *const *params, EmulatedNumbers<I...>) {
        kernel(*(const A *)params[I]...);
    }
    static void call(const void *const *params) {
        spread(params, typename EmulatedCount<sizeof...(A)>::type());
    }
    explicit EmulatedKernel(const char *name) {
        static const int sizes[] = {(int)sizeof(A)..., 0};
        emulatedRegister(name, call, sizeof...(A), sizes);
    }
};
