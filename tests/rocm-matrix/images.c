/* images.c: OpenCL images against plain loops: shapes, formats, samplers, copies.
 *
 * By hand, where an OpenCL driver has images; on the simulated card under ROCm:
 *     cc -O1 -o images tests/rocm-matrix/images.c -lOpenCL -lm && rmcp sim -- ./images
 * Debian's compiler declares the image functions for OpenCL C 2.0, not for 1.2. */
#define CL_TARGET_OPENCL_VERSION 200
#include <CL/cl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cl_context context;
static cl_device_id device;
static cl_command_queue queue;
static cl_program program;
static unsigned n_checks, n_wrong;

static void ok(cl_int status, const char *what)
{
    if (status == CL_SUCCESS) return;
    fprintf(stderr, "%s: status %d\n", what, status);
    exit(1);
}

static void check(int right, const char *what, const char *detail)
{
    n_checks++;
    if (!right && n_wrong++ < 20) printf("wrong: %s %s\n", what, detail);
}

/* ---- kernels: one of each for each shape ---- */

static const char source[] =
    "#define READ(name, shape, place) "
    "kernel void sample_##name(read_only shape i, sampler_t s, global const float4 *at, "
    "                          global float4 *to) { "
    "    const float4 p = at[get_global_id(0)]; "
    "    to[get_global_id(0)] = read_imagef(i, s, place); }\n"
    "READ(1d, image1d_t, p.x)\n"
    "READ(2d, image2d_t, p.xy)\n"
    "READ(3d, image3d_t, p)\n"
    "READ(1da, image1d_array_t, p.xz)\n"
    "READ(2da, image2d_array_t, p)\n"
    "#define PASS(name, read, write) "
    "kernel void pass_##name(read_only image2d_t a, write_only image2d_t b) { "
    "    const int2 p = (int2)(get_global_id(0), get_global_id(1)); "
    "    write(b, p, read(a, p)); }\n"
    "PASS(f, read_imagef, write_imagef)\n"
    "PASS(i, read_imagei, write_imagei)\n"
    "PASS(ui, read_imageui, write_imageui)\n"
    "kernel void values(read_only image2d_t a, global float4 *to) {\n"
    "    to[get_global_id(0)] = read_imagef(a, (int2)(get_global_id(0), 0)); }\n"
    "kernel void clamped(write_only image2d_t a, global const int4 *from) {\n"
    "    const int x = get_global_id(0);\n"
    "    write_imagei(a, (int2)(x, 0), from[x]); }\n"
    "kernel void buffer(read_only image1d_buffer_t a, global float4 *to) {\n"
    "    to[get_global_id(0)] = read_imagef(a, (int)get_global_id(0)); }\n"
    "kernel void sizes(read_only image3d_t a, read_only image2d_array_t b, global int4 *to) {\n"
    "    to[0] = get_image_dim(a);\n"
    "    to[1] = (int4)(get_image_dim(b), (int)get_image_array_size(b), 0); }\n";

static cl_kernel kernel(const char *name)
{
    cl_int status;
    cl_kernel k = clCreateKernel(program, name, &status);
    ok(status, name);
    return k;
}

static cl_mem buffer(size_t bytes, const void *from)
{
    cl_int status;
    cl_mem b = clCreateBuffer(context, CL_MEM_READ_WRITE | (from ? CL_MEM_COPY_HOST_PTR : 0), bytes,
                              (void *)from, &status);
    ok(status, "clCreateBuffer");
    return b;
}

static cl_mem image(cl_image_format format, cl_mem_object_type type, size_t w, size_t h, size_t d)
{
    cl_int status;
    const int array = type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    cl_image_desc shape = { .image_type = type, .image_width = w, .image_height = h };
    if (array)
        shape.image_array_size = d;
    else
        shape.image_depth = d;
    cl_mem i = clCreateImage(context, CL_MEM_READ_WRITE, &format, &shape, NULL, &status);
    ok(status, "clCreateImage");
    return i;
}

static void run(cl_kernel k, size_t w, size_t h)
{
    const size_t grid[2] = { w, h };
    ok(clEnqueueNDRangeKernel(queue, k, 2, NULL, grid, NULL, 0, NULL, NULL), "kernel");
}

static uint32_t random_word(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

/* ---- samplers ---- */

static int inside(int i, int n, cl_addressing_mode mode)
{
    int m;
    switch (mode) {
    case CL_ADDRESS_REPEAT: return (i % n + n) % n;
    case CL_ADDRESS_MIRRORED_REPEAT:
        m = (i % (2 * n) + 2 * n) % (2 * n);
        return m < n ? m : 2 * n - 1 - m;
    case CL_ADDRESS_CLAMP_TO_EDGE: return i < 0 ? 0 : i < n ? i : n - 1;
    default: return i >= 0 && i < n ? i : -1;
    }
}

struct axis {
    int at[2];
    float weight;
};

static struct axis axis(float c, int n, int normalized, cl_addressing_mode mode, int linear)
{
    struct axis a = { { 0, 0 }, 0 };
    if (normalized && mode == CL_ADDRESS_REPEAT) c -= floorf(c);
    if (normalized) c *= (float)n;
    c = rintf(c * 256) / 256 - (linear ? 0.5f : 0);
    for (int k = 0; k < 2; k++) a.at[k] = inside((int)floorf(c) + k, n, mode);
    if (linear) a.weight = c - floorf(c);
    return a;
}

static const struct {
    const char *name;
    cl_mem_object_type type;
    int w, h, d, has_y, layers;
} shapes[] = {
    { "1d", CL_MEM_OBJECT_IMAGE1D, 61, 1, 1, 0, 0 },
    { "2d", CL_MEM_OBJECT_IMAGE2D, 37, 19, 1, 1, 0 },
    { "3d", CL_MEM_OBJECT_IMAGE3D, 23, 11, 7, 1, 0 },
    { "1da", CL_MEM_OBJECT_IMAGE1D_ARRAY, 45, 1, 5, 0, 1 },
    { "2da", CL_MEM_OBJECT_IMAGE2D_ARRAY, 21, 13, 4, 1, 1 },
    { "2d", CL_MEM_OBJECT_IMAGE2D, 300, 260, 1, 1, 0 },
    { "3d", CL_MEM_OBJECT_IMAGE3D, 70, 66, 35, 1, 0 },
};

static void sample(unsigned s, int normalized, cl_addressing_mode mode, int linear)
{
    enum { N = 512 };
    const int w = shapes[s].w, h = shapes[s].h, d = shapes[s].d;
    const size_t n = (size_t)w * h * d;
    float *texels = malloc(4 * n), got[N][4], at[N][4] = { { 0 } };
    for (size_t i = 0; i < n; i++) texels[i] = (float)(random_word() % 2000) / 16;
    cl_mem i = image((cl_image_format){ CL_R, CL_FLOAT }, shapes[s].type, w, h, d);
    const size_t origin[3] = { 0 };
    const int line_array = shapes[s].type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    const size_t region[3] = { w, line_array ? d : h, line_array ? 1 : d };
    ok(clEnqueueWriteImage(queue, i, 1, origin, region, 0, 0, texels, 0, NULL, NULL), "write");
    for (unsigned k = 0; k < N; k++) {
        const int size[3] = { w, h, d };
        for (int c = 0; c < 3; c++) {
            float x = (float)(random_word() % (24u * size[c])) / 8 - size[c] + 0.03f;
            at[k][c] = normalized ? x / size[c] : x;
        }
        if (shapes[s].layers) at[k][2] = (float)(random_word() % d);
    }
    cl_int status;
    cl_sampler sampler = clCreateSampler(context, normalized, mode,
                                         linear ? CL_FILTER_LINEAR : CL_FILTER_NEAREST, &status);
    ok(status, "clCreateSampler");
    char name[32];
    snprintf(name, sizeof name, "sample_%s", shapes[s].name);
    cl_kernel k = kernel(name);
    cl_mem from = buffer(sizeof at, at), to = buffer(sizeof got, NULL);
    clSetKernelArg(k, 0, sizeof i, &i);
    clSetKernelArg(k, 1, sizeof sampler, &sampler);
    clSetKernelArg(k, 2, sizeof from, &from);
    clSetKernelArg(k, 3, sizeof to, &to);
    run(k, N, 1);
    ok(clEnqueueReadBuffer(queue, to, 1, 0, sizeof got, got, 0, NULL, NULL), "read");
    int right = 1;
    for (unsigned p = 0; p < N; p++) {
        struct axis x = axis(at[p][0], w, normalized, mode, linear), y = { { 0, 0 }, 0 }, z = y;
        if (shapes[s].has_y) y = axis(at[p][1], h, normalized, mode, linear);
        if (shapes[s].layers)
            z.at[0] = z.at[1] = (int)at[p][2];
        else if (d > 1)
            z = axis(at[p][2], d, normalized, mode, linear);
        float sum = 0;
        for (int c = 0; c < 8; c++) {
            const int a = x.at[c & 1], b = y.at[c >> 1 & 1], e = z.at[c >> 2 & 1];
            const float weight = (c & 1 ? x.weight : 1 - x.weight) *
                                 (c & 2 ? y.weight : 1 - y.weight) *
                                 (c & 4 ? z.weight : 1 - z.weight);
            if (a >= 0 && b >= 0 && e >= 0 && weight > 0)
                sum += weight * texels[((size_t)e * h + b) * w + a];
        }
        right &= fabsf(got[p][0] - sum) <= 1e-4f * (1 + fabsf(sum)) && got[p][1] == 0 &&
                 got[p][2] == 0 && got[p][3] == 1;
    }
    char detail[64];
    snprintf(detail, sizeof detail, "%dx%dx%d normalized %d mode 0x%x linear %d", w, h, d,
             normalized, mode, linear);
    check(right, name, detail);
    clReleaseSampler(sampler);
    clReleaseMemObject(from);
    clReleaseMemObject(to);
    clReleaseMemObject(i);
    clReleaseKernel(k);
    free(texels);
}

/* ---- formats ---- */

/* What of an element is stored by a driver that does its work, bit by bit. */
static uint32_t significant(cl_image_format f)
{
    if (f.image_channel_data_type == CL_UNORM_SHORT_555) return 0x7fff7fff;
    return f.image_channel_data_type == CL_UNORM_INT_101010 ? 0x3fffffff : 0xffffffff;
}

static size_t element_bytes(cl_mem i)
{
    size_t n = 0;
    ok(clGetImageInfo(i, CL_IMAGE_ELEMENT_SIZE, sizeof n, &n, NULL), "clGetImageInfo");
    return n;
}

/* Numbers that are no NaN, -0 or denormal as floats, and no -128 as signed fractions. */
static void fill(uint8_t *to, size_t bytes, cl_channel_type type)
{
    for (size_t k = 0; k < bytes; k++) to[k] = (uint8_t)random_word();
    if (type == CL_HALF_FLOAT)
        for (size_t k = 1; k < bytes; k += 2) to[k] = (to[k] & 0x9f) | 0x20;
    if (type == CL_FLOAT)
        for (size_t k = 3; k < bytes; k += 4) to[k] = (to[k] & 0x81) | 0x40;
    if (type == CL_SNORM_INT8 || type == CL_SNORM_INT16)
        for (size_t k = 0; k < bytes; k++)
            if (to[k] == 0x80) to[k] = 0x81;
}

/* Through a kernel from image to image, every format that the device says it has. */
static void pass_format(cl_image_format f)
{
    enum { W = 33, H = 18 };
    const cl_channel_type t = f.image_channel_data_type;
    const int is_signed = t == CL_SIGNED_INT8 || t == CL_SIGNED_INT16 || t == CL_SIGNED_INT32;
    const int is_unsigned =
        t == CL_UNSIGNED_INT8 || t == CL_UNSIGNED_INT16 || t == CL_UNSIGNED_INT32;
    cl_mem a = image(f, CL_MEM_OBJECT_IMAGE2D, W, H, 0);
    cl_mem b = image(f, CL_MEM_OBJECT_IMAGE2D, W, H, 0);
    const size_t bytes = element_bytes(a) * W * H, origin[3] = { 0 }, region[3] = { W, H, 1 };
    uint8_t *from = malloc(bytes + 4), *to = malloc(bytes + 4);
    fill(from, bytes, t);
    ok(clEnqueueWriteImage(queue, a, 1, origin, region, 0, 0, from, 0, NULL, NULL), "write");
    cl_kernel k = kernel(is_signed ? "pass_i" : is_unsigned ? "pass_ui" : "pass_f");
    clSetKernelArg(k, 0, sizeof a, &a);
    clSetKernelArg(k, 1, sizeof b, &b);
    run(k, W, H);
    ok(clEnqueueReadImage(queue, b, 1, origin, region, 0, 0, to, 0, NULL, NULL), "read");
    int right = 1;
    for (size_t p = 0; p + 4 <= bytes; p += 4) {
        uint32_t x, y;
        memcpy(&x, from + p, 4);
        memcpy(&y, to + p, 4);
        right &= !((x ^ y) & significant(f));
    }
    char detail[48];
    snprintf(detail, sizeof detail, "order 0x%x type 0x%x", f.image_channel_order, t);
    check(right, "format", detail);
    clReleaseKernel(k);
    clReleaseMemObject(a);
    clReleaseMemObject(b);
    free(from);
    free(to);
}

static void all_formats(void)
{
    cl_image_format list[256];
    cl_uint n = 0;
    ok(clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, 256, list, &n),
       "clGetSupportedImageFormats");
    for (cl_uint i = 0; i < n && i < 256; i++)
        if (list[i].image_channel_order != CL_DEPTH && list[i].image_channel_order != CL_sRGBA)
            pass_format(list[i]);
    printf("%u formats\n", n);
}

/* The numbers that a kernel sees. */
static void values(void)
{
    const uint8_t bytes[4] = { 0, 51, 204, 255 };
    static const struct {
        cl_image_format format;
        float want[4];
    } list[] = {
        { { CL_RGBA, CL_UNORM_INT8 }, { 0, 0.2f, 0.8f, 1 } },
        { { CL_BGRA, CL_UNORM_INT8 }, { 0.8f, 0.2f, 0, 1 } },
        { { CL_RGBA, CL_SNORM_INT8 }, { 0, 51 / 127.0f, -52 / 127.0f, -1 / 127.0f } },
        { { CL_RG, CL_UNORM_INT16 }, { 0x3300 / 65535.0f, 0xffcc / 65535.0f, 0, 1 } },
        { { CL_sRGBA, CL_UNORM_INT8 }, { 0, 0.0331048f, 0.6038274f, 1 } },
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        cl_mem i = image(list[k].format, CL_MEM_OBJECT_IMAGE2D, 1, 1, 0);
        const size_t origin[3] = { 0 }, region[3] = { 1, 1, 1 };
        float got[4];
        cl_mem to = buffer(sizeof got, NULL);
        cl_kernel run_it = kernel("values");
        ok(clEnqueueWriteImage(queue, i, 1, origin, region, 0, 0, bytes, 0, NULL, NULL), "write");
        clSetKernelArg(run_it, 0, sizeof i, &i);
        clSetKernelArg(run_it, 1, sizeof to, &to);
        run(run_it, 1, 1);
        ok(clEnqueueReadBuffer(queue, to, 1, 0, sizeof got, got, 0, NULL, NULL), "read");
        int right = 1;
        char detail[128];
        for (int c = 0; c < 4; c++) right &= fabsf(got[c] - list[k].want[c]) < 1e-5f;
        snprintf(detail, sizeof detail, "%zu: %g %g %g %g", k, got[0], got[1], got[2], got[3]);
        check(right, "values", detail);
        clReleaseMemObject(i);
        clReleaseMemObject(to);
        clReleaseKernel(run_it);
    }
}

/* ---- the rest ---- */

/* Integers that do not fit become the nearest that does, as OpenCL says. */
static void clamps(void)
{
    const int from[2][4] = { { 127, 128, -128, -129 }, { 100000, -100000, 5, -5 } };
    const int8_t want[2][4] = { { 127, 127, -128, -128 }, { 127, -128, 5, -5 } };
    int8_t got[2][4];
    cl_mem i = image((cl_image_format){ CL_RGBA, CL_SIGNED_INT8 }, CL_MEM_OBJECT_IMAGE2D, 2, 1, 0);
    cl_mem b = buffer(sizeof from, from);
    cl_kernel k = kernel("clamped");
    const size_t origin[3] = { 0 }, region[3] = { 2, 1, 1 };
    clSetKernelArg(k, 0, sizeof i, &i);
    clSetKernelArg(k, 1, sizeof b, &b);
    run(k, 2, 1);
    ok(clEnqueueReadImage(queue, i, 1, origin, region, 0, 0, got, 0, NULL, NULL), "read");
    check(!memcmp(got, want, sizeof got), "clamped", "");
}

static void buffers(void)
{
    enum { N = 100 };
    uint8_t from[N][4];
    float got[N][4];
    for (int i = 0; i < N; i++)
        for (int c = 0; c < 4; c++) from[i][c] = (uint8_t)(i * 7 + c * 31);
    cl_mem memory = buffer(sizeof from, from), to = buffer(sizeof got, NULL);
    cl_image_format format = { CL_BGRA, CL_UNORM_INT8 };
    cl_image_desc shape = { .image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER,
                            .image_width = N,
                            .buffer = memory };
    cl_int status;
    cl_mem i = clCreateImage(context, CL_MEM_READ_ONLY, &format, &shape, NULL, &status);
    ok(status, "clCreateImage of a buffer");
    cl_kernel k = kernel("buffer");
    clSetKernelArg(k, 0, sizeof i, &i);
    clSetKernelArg(k, 1, sizeof to, &to);
    run(k, N, 1);
    ok(clEnqueueReadBuffer(queue, to, 1, 0, sizeof got, got, 0, NULL, NULL), "read");
    int right = 1;
    for (int p = 0; p < N; p++)
        for (int c = 0; c < 4; c++)
            right &= fabsf(got[p][c] - (float)from[p][c == 3 ? 3 : 2 - c] / 255) < 1e-6f;
    check(right, "image of a buffer", "");
}

static void sizes(void)
{
    const int want[2][4] = { { 23, 11, 7, 0 }, { 21, 13, 4, 0 } };
    int got[2][4];
    const cl_image_format f = { CL_R, CL_FLOAT };
    cl_mem a = image(f, CL_MEM_OBJECT_IMAGE3D, 23, 11, 7);
    cl_mem b = image(f, CL_MEM_OBJECT_IMAGE2D_ARRAY, 21, 13, 4), to = buffer(sizeof got, NULL);
    cl_kernel k = kernel("sizes");
    clSetKernelArg(k, 0, sizeof a, &a);
    clSetKernelArg(k, 1, sizeof b, &b);
    clSetKernelArg(k, 2, sizeof to, &to);
    run(k, 1, 1);
    ok(clEnqueueReadBuffer(queue, to, 1, 0, sizeof got, got, 0, NULL, NULL), "read");
    check(!memcmp(got, want, sizeof got), "sizes", "");
}

/* Parts of images to others and to buffers, and a colour. */
static void copies(void)
{
    enum { W = 50, H = 40, D = 6 };
    static uint32_t a[D][H][W], b[D][H][W], part[2][8][9];
    const cl_image_format f = { CL_RGBA, CL_UNSIGNED_INT8 };
    cl_mem i = image(f, CL_MEM_OBJECT_IMAGE3D, W, H, D),
           j = image(f, CL_MEM_OBJECT_IMAGE3D, W, H, D);
    cl_mem m = buffer(sizeof part, NULL);
    const size_t origin[3] = { 0 }, all[3] = { W, H, D }, from[3] = { 3, 5, 1 },
                 to[3] = { 20, 30, 4 }, some[3] = { 9, 8, 2 };
    const cl_uint colour[4] = { 1, 2, 3, 4 };
    for (size_t k = 0; k < (size_t)W * H * D; k++) a[0][0][k] = random_word();
    ok(clEnqueueWriteImage(queue, i, 1, origin, all, 0, 0, a, 0, NULL, NULL), "write");
    ok(clEnqueueFillImage(queue, j, colour, origin, all, 0, NULL, NULL), "fill");
    ok(clEnqueueCopyImage(queue, i, j, from, to, some, 0, NULL, NULL), "copy");
    ok(clEnqueueCopyImageToBuffer(queue, j, m, to, some, 0, 0, NULL, NULL), "to a buffer");
    ok(clEnqueueReadImage(queue, j, 1, origin, all, 0, 0, b, 0, NULL, NULL), "read");
    ok(clEnqueueReadBuffer(queue, m, 1, 0, sizeof part, part, 0, NULL, NULL), "read");
    int right = 1;
    for (size_t z = 0; z < D; z++)
        for (size_t y = 0; y < H; y++)
            for (size_t x = 0; x < W; x++) {
                const size_t p = x - to[0], q = y - to[1], r = z - to[2];
                const int copied = p < some[0] && q < some[1] && r < some[2];
                const uint32_t want =
                    copied ? a[r + from[2]][q + from[1]][p + from[0]] : 0x04030201;
                right &= b[z][y][x] == want;
                if (copied) right &= part[r][q][p] == want;
            }
    check(right, "copies", "");
}

int main(void)
{
    static const cl_addressing_mode modes[] = { CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_CLAMP,
                                                CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT };
    cl_platform_id platform;
    cl_int status;
    const char *text = source;
    static char log[65536];
    ok(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    ok(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    ok(status, "clCreateContext");
    queue = clCreateCommandQueueWithProperties(context, device, NULL, &status);
    ok(status, "clCreateCommandQueue");
    program = clCreateProgramWithSource(context, 1, &text, NULL, &status);
    ok(status, "clCreateProgramWithSource");
    status = clBuildProgram(program, 1, &device, "-cl-std=CL2.0", NULL, NULL);
    if (status) {
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        fprintf(stderr, "%s\n", log);
        ok(status, "clBuildProgram");
    }
    for (unsigned s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (unsigned m = 0; m < 4; m++)
            for (int linear = 0; linear < 2; linear++) {
                sample(s, 1, modes[m], linear);
                if (m < 2) sample(s, 0, modes[m], linear);
            }
    all_formats();
    values();
    clamps();
    buffers();
    sizes();
    copies();
    printf("images: %s (%u checks, %u wrong)\n", n_wrong ? "wrong" : "right", n_checks, n_wrong);
    return n_wrong != 0;
}
