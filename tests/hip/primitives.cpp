// primitives.cpp: rocPRIM's algorithms from Debian's headers: scan, sort, reduce, select.
#include "check.h"

#include <rocprim/rocprim.hpp>

#include <algorithm>

// rocPRIM is asked for its memory first, then to work in it.
template <typename F> void with_storage(F &&call)
{
    size_t bytes = 0;
    HIP(call(nullptr, bytes));
    void *storage = nullptr;
    HIP(hipMalloc(&storage, bytes ? bytes : 1));
    HIP(call(storage, bytes));
    HIP(hipDeviceSynchronize());
    HIP(hipFree(storage));
}

struct is_even {
    __host__ __device__ bool operator()(int value) const { return value % 2 == 0; }
};

int main()
{
    const size_t n = 5003;
    std::vector<int> values(n);
    for (size_t i = 0; i < n; i++) values[i] = int(i * 7919 % 10007) - 5000;
    int *in = upload(values), *out = upload(std::vector<int>(n, 0));

    with_storage([&](void *storage, size_t &bytes) {
        return rocprim::exclusive_scan(storage, bytes, in, out, 5, n, rocprim::plus<int>());
    });
    std::vector<int> expected(n);
    for (size_t i = 0, sum = 5; i < n; i++) {
        expected[i] = int(sum);
        sum += values[i];
    }
    EXPECT(download(out, n) == expected);

    int *sum = upload(std::vector<int>(1, 0));
    with_storage([&](void *storage, size_t &bytes) {
        return rocprim::reduce(storage, bytes, in, sum, 0, n, rocprim::plus<int>());
    });
    int total = 0;
    for (int v : values) total += v;
    EXPECT(download(sum, 1)[0] == total);

    with_storage([&](void *storage, size_t &bytes) {
        return rocprim::radix_sort_keys(storage, bytes, in, out, n);
    });
    expected = values;
    std::sort(expected.begin(), expected.end());
    EXPECT(download(out, n) == expected);

    unsigned *selected = upload(std::vector<unsigned>(1, 0));
    with_storage([&](void *storage, size_t &bytes) {
        return rocprim::select(storage, bytes, in, out, selected, n, is_even());
    });
    expected.clear();
    std::copy_if(values.begin(), values.end(), std::back_inserter(expected), is_even());
    EXPECT(download(selected, 1)[0] == expected.size());
    EXPECT(download(out, expected.size()) == expected);
    return done("primitives");
}
