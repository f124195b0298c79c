// check.h: what the HIP test programs share: every call checked, results counted.
#ifndef RMCP_TESTS_HIP_CHECK_H
#define RMCP_TESTS_HIP_CHECK_H

#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define HIP(call)                                                                                  \
    do {                                                                                           \
        const hipError_t error_ = (call);                                                          \
        if (error_ != hipSuccess) {                                                                \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                     \
                         hipGetErrorString(error_));                                               \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

inline int &failures()
{
    static int count = 0;
    return count;
}

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition) && failures()++ < 10)                                                     \
            std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);         \
    } while (0)

// Memory of the card with the contents of a vector.
template <typename T> T *upload(const std::vector<T> &values)
{
    T *memory = nullptr;
    HIP(hipMalloc(reinterpret_cast<void **>(&memory), values.size() * sizeof(T)));
    HIP(hipMemcpy(memory, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
    return memory;
}

template <typename T> std::vector<T> download(const T *memory, size_t n)
{
    std::vector<T> values(n);
    HIP(hipMemcpy(values.data(), memory, n * sizeof(T), hipMemcpyDeviceToHost));
    return values;
}

inline int done(const char *what)
{
    std::printf("%s: %s\n", what, failures() ? "wrong" : "right");
    return failures() ? 1 : 0;
}

#endif
