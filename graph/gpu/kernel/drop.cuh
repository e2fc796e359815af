// The factors of dropout, which are those of the processor: see row.Dropout.
#pragma once
#include "base.cuh"

// hash is splitmix64's output for one state.
DEVICE u64 hash(u64 x) {
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

// dropWord returns the random word of four elements of a row: word w is that of columns 4w to 4w+3. A sample has
// matrices (the heads of attention; 0 elsewhere) of rows, and a key.
DEVICE u64 dropWord(u64 key, int matrix, int row, int w) {
    return hash(key + ((u64)matrix << 36) + ((u64)row << 16) + (u64)w);
}

// dropOf returns the factor of element j of the four that share a word: 0, or scale if it is kept.
DEVICE float dropOf(u64 word, int j, int limit, float scale) {
    return (u32)(word >> (16 * j) & 0xffff) >= (u32)limit ? scale : 0.f;
}

// dropFactor returns the factor of one element.
DEVICE float dropFactor(u64 key, int matrix, int row, int column, int limit, float scale) {
    return dropOf(dropWord(key, matrix, row, column >> 2), column & 3, limit, scale);
}

// sampleRow is a row of a sample.
struct sampleRow { int sample, row; };

// sampleOf returns which row of which sample is row i of all: of texts that begin at starts [samples+1], or if
// that is null of samples with so many rows each.
DEVICE sampleRow sampleOf(const int *starts, int samples, int rowsEach, int i) {
    if (!starts) return {i / rowsEach, i % rowsEach};
    int lo = 0, hi = samples; // starts[lo] <= i < starts[hi]
    while (hi - lo > 1) {
        int middle = (lo + hi) >> 1;
        if (starts[middle] <= i) lo = middle;
        else hi = middle;
    }
    return {lo, i - starts[lo]};
}
