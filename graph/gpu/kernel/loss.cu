// Losses of samples and their derivatives; a block per sample.
#include "base.cuh"

// blockMax is the maximum over a block, as blockSum is the sum.
DEVICE float blockMax(float x, float *room) {
    x = warpMax(x);
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = (blockDim.x + 31) >> 5;
    __syncthreads();
    if (lane == 0) room[warp] = x;
    __syncthreads();
    return warpMax(lane < warps ? room[lane] : -INFINITE);
}

// cross_entropy computes for logits z, the target q[k] = smoothing/classes, plus 1-smoothing at the label,
//
//	loss = log(sum over k of exp(z[k])) - sum over k of q[k]*z[k]
//	derivative[k] = exp(z[k]) / sum over j of exp(z[j]) - q[k]
//
// A label beyond the classes gives NaN.
extern "C" __global__ void cross_entropy(float *loss, float *derivative, const float *logits, const int *labels,
                                         int classes, float smoothing) {
    __shared__ float room[32];
    const float *z = logits + (long long)blockIdx.x * classes;
    float *d = derivative + (long long)blockIdx.x * classes;
    int label = labels[blockIdx.x];
    float top = -INFINITE, sum = 0.f, all = 0.f;
    for (int k = threadIdx.x; k < classes; k += blockDim.x) top = fmaxf(top, z[k]);
    top = blockMax(top, room);
    for (int k = threadIdx.x; k < classes; k += blockDim.x) {
        sum += expf(z[k] - top);
        all += z[k] - top;
    }
    sum = blockSum(sum, room);
    all = blockSum(all, room);
    float away = smoothing / classes;
    bool isClass = label >= 0 && label < classes;
    if (threadIdx.x == 0) {
        float at = isClass ? z[label] - top : INFINITE - INFINITE;
        loss[blockIdx.x] = logf(sum) - (smoothing == 0.f ? at : (1.f - smoothing) * at + away * all);
    }
    for (int k = threadIdx.x; k < classes; k += blockDim.x)
        d[k] = expf(z[k] - top) / sum - away - (k == label ? 1.f - smoothing : 0.f);
}

// squared_error computes the mean of (x-target)^2 over a row, and its derivative by x.
extern "C" __global__ void squared_error(float *error, float *derivative, const float *x, const float *target,
                                         int cols) {
    __shared__ float room[32];
    long long base = (long long)blockIdx.x * cols;
    float sum = 0.f;
    for (int k = threadIdx.x; k < cols; k += blockDim.x) {
        float d = x[base + k] - target[base + k];
        sum += d * d;
        derivative[base + k] = 2.f * d / cols;
    }
    sum = blockSum(sum, room);
    if (threadIdx.x == 0) error[blockIdx.x] = sum / cols;
}
