// A pause, for the profile.
#include "base.cuh"

// One thread does nothing for so many cycles of its clock, while ops are queued behind.
extern "C" __global__ void pause(u64 cycles) {
#ifndef EMULATED
    long long begin = clock64();
    while ((u64)(clock64() - begin) < cycles) {}
#endif
}
