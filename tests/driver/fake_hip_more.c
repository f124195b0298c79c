/* fake_hip_more.c: what programs call of the fake HIP library beside what the engine does.
 *
 * Most are made of the engine's functions, so that they are counted and fail with them. */
#include <stddef.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* HIP's headers are not here */
#define API __attribute__((visibility("default")))

int hipMemcpyAsync(void *target, const void *source, size_t bytes, int kind, void *stream);
int hipStreamCreateWithFlags(void **stream, unsigned flags);
int hipStreamSynchronize(void *stream);
const char *hipGetErrorName(int code);

API int hipMemcpy(void *target, const void *source, size_t bytes, int kind)
{
    return hipMemcpyAsync(target, source, bytes, kind, NULL);
}

API int hipMemset(void *target, int value, size_t bytes)
{
    memset(target, value, bytes);
    return 0;
}

API int hipStreamCreate(void **stream)
{
    return hipStreamCreateWithFlags(stream, 0);
}

API int hipDeviceSynchronize(void)
{
    return hipStreamSynchronize(NULL);
}

API const char *hipGetErrorString(int code)
{
    return hipGetErrorName(code);
}
