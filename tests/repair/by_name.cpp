// by_name.cpp: a kernel whose size is compiled in by the chip, launched with the size that the host chooses by the card's
// name, as rocPRIM does it: with the sizes of two chips, parts of the result are missing.
#include "chip_names.h"

#include <cstdio>
#include <hip/hip_runtime.h>
#include <vector>

namespace rocprim
{
struct default_config {};
template <typename Config> struct wrapped_fill_config {};

constexpr unsigned items_of(unsigned chip) { return chip == 1030 ? 4 : 2; }

#if defined(__gfx1030__)
constexpr unsigned items_here = items_of(1030);
#else
constexpr unsigned items_here = items_of(0);
#endif

template <typename Config> __global__ void fill(unsigned *out, unsigned n)
{
    const unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) * items_here;
    for (unsigned i = first; i < first + items_here && i < n; i++) out[i] = i + 1;
}
}

int main()
{
    const unsigned n = 5000, block = 64;
    hipDeviceProp_t card;
    unsigned *out = nullptr;
    if (hipGetDeviceProperties(&card, 0) || hipMalloc(&out, n * sizeof *out) || hipMemset(out, 0, n * sizeof *out)) {
        puts("no card");
        return 2;
    }
    const unsigned chip = rocprim::chip_by_name(card.gcnArchName), items = block * rocprim::items_of(chip);
    rocprim::fill<rocprim::wrapped_fill_config<rocprim::default_config>><<<(n + items - 1) / items, block>>>(out, n);
    const hipError_t error = hipGetLastError();
    std::vector<unsigned> result(n);
    if (error || hipMemcpy(result.data(), out, n * sizeof *out, hipMemcpyDeviceToHost)) {
        printf("%s, taken for %u: %s\n", card.gcnArchName, chip, hipGetErrorName(error));
        return 1;
    }
    unsigned wrong = 0;
    for (unsigned i = 0; i < n; i++) wrong += result[i] != i + 1;
    printf("%s, taken for %u: %u wrong\n", card.gcnArchName, chip, wrong);
    return wrong != 0;
}
