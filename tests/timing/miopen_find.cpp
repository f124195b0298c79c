// miopen_find.cpp: what the original MIOpen finds for convolutions on the model of time; for bench/model_miopen.py, or by hand:
//   clang++ -O2 -D__HIP_PLATFORM_AMD__ miopen_find.cpp -o miopen_find -lMIOpen -lamdhip64
//   MIOPEN_LOG_LEVEL=5 rmcp sim --timing --sample-only --checks none -- ./miopen_find n1c64h56w56k64r3s3p1u1g1:fwd
// Each argument is a case of f32 with all of its numbers, and fwd, bwd_data or bwd_weights. It is one call of
// miopenFindConvolution*Algorithm, whose log has the time of every solver that it tried. Tensors are zero.
#include <hip/hip_runtime_api.h>
#include <miopen/miopen.h>

#include <cstdio>
#include <cstring>

enum { MOST = 16 };

struct problem {
    miopenHandle_t handle;
    miopenTensorDescriptor_t x, w, y;
    miopenConvolutionDescriptor_t conv;
    void *dx, *dw, *dy, *space;
    size_t space_bytes;
    char pass[16];
};

static miopenStatus_t workspace(problem *c)
{
    if (!std::strcmp(c->pass, "fwd"))
        return miopenConvolutionForwardGetWorkSpaceSize(c->handle, c->w, c->x, c->conv, c->y,
                                                        &c->space_bytes);
    if (!std::strcmp(c->pass, "bwd_data"))
        return miopenConvolutionBackwardDataGetWorkSpaceSize(c->handle, c->y, c->w, c->conv, c->x,
                                                             &c->space_bytes);
    return miopenConvolutionBackwardWeightsGetWorkSpaceSize(c->handle, c->y, c->x, c->conv, c->w,
                                                            &c->space_bytes);
}

static miopenStatus_t find(problem *c, int *n, miopenConvAlgoPerf_t found[MOST])
{
    if (!std::strcmp(c->pass, "fwd"))
        return miopenFindConvolutionForwardAlgorithm(c->handle, c->x, c->dx, c->w, c->dw, c->conv,
                                                     c->y, c->dy, MOST, n, found, c->space,
                                                     c->space_bytes, false);
    if (!std::strcmp(c->pass, "bwd_data"))
        return miopenFindConvolutionBackwardDataAlgorithm(c->handle, c->y, c->dy, c->w, c->dw,
                                                          c->conv, c->x, c->dx, MOST, n, found,
                                                          c->space, c->space_bytes, false);
    return miopenFindConvolutionBackwardWeightsAlgorithm(c->handle, c->y, c->dy, c->x, c->dx,
                                                         c->conv, c->w, c->dw, MOST, n, found,
                                                         c->space, c->space_bytes, false);
}

static bool zeros(void **memory, size_t n)
{
    return hipMalloc(memory, n) == hipSuccess && hipMemset(*memory, 0, n) == hipSuccess;
}

static bool run(miopenHandle_t handle, const char *text)
{
    int n, c, h, w, k, r, s, p, u, g, oh, ow, n_found = 0;
    problem call = {};
    call.handle = handle;
    miopenConvAlgoPerf_t found[MOST];
    if (std::sscanf(text, "n%dc%dh%dw%dk%dr%ds%dp%du%dg%d:%15s", &n, &c, &h, &w, &k, &r, &s, &p, &u, &g,
               call.pass) != 11)
        return false;
    oh = (h + 2 * p - r) / u + 1;
    ow = (w + 2 * p - s) / u + 1;
    const size_t x_bytes = size_t(4) * n * c * h * w, y_bytes = size_t(4) * n * k * oh * ow,
                 w_bytes = size_t(4) * k * (c / g) * r * s;
    bool good = !miopenCreateTensorDescriptor(&call.x) && !miopenCreateTensorDescriptor(&call.w) &&
                !miopenCreateTensorDescriptor(&call.y) &&
                !miopenCreateConvolutionDescriptor(&call.conv) &&
                !miopenSet4dTensorDescriptor(call.x, miopenFloat, n, c, h, w) &&
                !miopenSet4dTensorDescriptor(call.w, miopenFloat, k, c / g, r, s) &&
                !miopenSet4dTensorDescriptor(call.y, miopenFloat, n, k, oh, ow) &&
                !miopenInitConvolutionDescriptor(call.conv, miopenConvolution, p, p, u, u, 1, 1) &&
                !miopenSetConvolutionGroupCount(call.conv, g) && zeros(&call.dx, x_bytes) &&
                zeros(&call.dw, w_bytes) && zeros(&call.dy, y_bytes) && !workspace(&call);
    good = good && (!call.space_bytes || zeros(&call.space, call.space_bytes)) &&
           !find(&call, &n_found, found);
    for (int i = 0; i < n_found && good; i++)
        std::printf("found\t%s\t%d\t%.9g ms\t%zu bytes\n", text, int(found[i].fwd_algo), found[i].time,
               found[i].memory);
    void *const all[] = { call.dx, call.dw, call.dy, call.space };
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) static_cast<void>(hipFree(all[i]));
    return good && n_found > 0;
}

int main(int argc, char **argv)
{
    miopenHandle_t handle;
    bool good = argc > 1 && !miopenCreate(&handle);
    for (int i = 1; i < argc && good; i++)
        if (!run(handle, argv[i])) {
            std::fprintf(stderr, "%s: failed\n", argv[i]);
            good = false;
        }
    return good ? 0 : 1;
}
