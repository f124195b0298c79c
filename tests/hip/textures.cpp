// textures.cpp: textures and surfaces against plain loops: filters, address modes, formats, shapes.
#include "check.h"

static const int width = 37, height = 21, depth = 5;

__global__ void sample2(hipTextureObject_t t, const float2 *at, float4 *to, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = tex2D<float4>(t, at[i].x, at[i].y);
}

__global__ void sample2_one(hipTextureObject_t t, const float2 *at, float *to, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = tex2D<float>(t, at[i].x, at[i].y);
}

__global__ void sample3(hipTextureObject_t t, const float4 *at, float *to, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = tex3D<float>(t, at[i].x, at[i].y, at[i].z);
}

__global__ void sample_layer(hipTextureObject_t t, const float2 *at, int *to, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = tex2DLayered<int>(t, at[i].x, at[i].y, i % depth);
}

__global__ void fetch(hipTextureObject_t t, float4 *to, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = tex1Dfetch<float4>(t, i);
}

__global__ void turn(hipSurfaceObject_t from, hipSurfaceObject_t to, int w, int h)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float c;
    surf2Dread(&c, from, x * 4, y);
    surf2Dwrite(c, to, (w - 1 - x) * 4, h - 1 - y);
}

__global__ void ways(hipTextureObject_t t, float4 *four, float *one, int w)
{
    const int x = threadIdx.x, y = blockIdx.x, i = y * w + x;
    four[i] = tex2Dgather<float4>(t, x + 1.0f, y + 1.0f, 1); // HIP counts components from 1
    one[i] = tex2DLod<float>(t, x + 0.5f, y + 0.5f, 0.0f) +
             tex2DGrad<float>(t, x + 0.5f, y + 0.5f, make_float2(1, 0), make_float2(0, 1));
}

__global__ void sample1(hipTextureObject_t t, float *to)
{
    to[threadIdx.x] = tex1D<float>(t, threadIdx.x + 0.5f);
}

// What an axis makes of a coordinate: two texels (-1: the border) and the weight of the second.
struct Axis {
    int at[2];
    float weight;
};

static int inside(int i, int n, hipTextureAddressMode mode)
{
    switch (mode) {
    case hipAddressModeWrap: return (i % n + n) % n;
    case hipAddressModeMirror: {
        const int m = (i % (2 * n) + 2 * n) % (2 * n);
        return m < n ? m : 2 * n - 1 - m;
    }
    case hipAddressModeClamp: return i < 0 ? 0 : i < n ? i : n - 1;
    default: return i >= 0 && i < n ? i : -1;
    }
}

static Axis axis(float c, int n, bool normalized, hipTextureAddressMode mode, bool linear)
{
    Axis a = {};
    if (normalized && mode == hipAddressModeWrap) c -= std::floor(c);
    if (normalized) c *= static_cast<float>(n);
    c = std::nearbyint(c * 256) / 256 - (linear ? 0.5f : 0);
    const float whole = std::floor(c);
    for (int k = 0; k < 2; k++) a.at[k] = inside(static_cast<int>(whole) + k, n, mode);
    a.weight = linear ? c - whole : 0;
    return a;
}

template <class Texel> static float mean(const Axis &x, const Axis &y, const Axis &z, Texel texel)
{
    float sum = 0;
    for (int i = 0; i < 8; i++) {
        const int a = x.at[i & 1], b = y.at[i >> 1 & 1], c = z.at[i >> 2 & 1];
        float w = i & 1 ? x.weight : 1 - x.weight;
        w *= i & 2 ? y.weight : 1 - y.weight;
        w *= i & 4 ? z.weight : 1 - z.weight;
        if (w != 0 && a >= 0 && b >= 0 && c >= 0) sum += w * texel(a, b, c);
    }
    return sum;
}

static bool close(float a, float b)
{
    return std::fabs(a - b) <= 1e-5f * (1 + std::fabs(b));
}

// Coordinates in eighths of texels and a little, so that none lies between two.
static std::vector<float2> places(int n, bool normalized)
{
    std::vector<float2> at(n);
    for (int i = 0; i < n; i++) {
        const float x = static_cast<float>(i * 7 % (16 * width)) / 8 - width / 2 + 0.03f;
        const float y = static_cast<float>(i * 5 % (16 * height)) / 8 - height / 2 + 0.03f;
        at[i] = normalized ? make_float2(x / width, y / height) : make_float2(x, y);
    }
    return at;
}

static hipTextureObject_t texture_of(hipArray_t array, hipTextureAddressMode mode, bool linear,
                                     bool normalized, hipTextureReadMode read)
{
    hipResourceDesc from = {};
    from.resType = hipResourceTypeArray;
    from.res.array.array = array;
    hipTextureDesc how = {};
    for (int k = 0; k < 3; k++) how.addressMode[k] = mode;
    how.filterMode = linear ? hipFilterModeLinear : hipFilterModePoint;
    how.readMode = read;
    how.normalizedCoords = normalized;
    hipTextureObject_t object = 0;
    HIP(hipCreateTextureObject(&object, &from, &how, nullptr));
    return object;
}

static const Axis none = { { 0, 0 }, 0 };

static void filters()
{
    const int n = 3000;
    std::vector<float> image(width * height);
    for (int i = 0; i < width * height; i++) image[i] = static_cast<float>(i * 37 % 1001) / 16;
    hipChannelFormatDesc format = hipCreateChannelDesc<float>();
    hipArray_t array;
    HIP(hipMallocArray(&array, &format, width, height, hipArrayDefault));
    HIP(hipMemcpy2DToArray(array, 0, 0, image.data(), width * 4, width * 4, height,
                           hipMemcpyHostToDevice));
    float *to = upload(std::vector<float>(n));
    for (int k = 0; k < 12; k++) {
        static const hipTextureAddressMode modes[] = { hipAddressModeClamp, hipAddressModeBorder,
                                                       hipAddressModeWrap, hipAddressModeMirror };
        const bool linear = k & 1, normalized = k >= 4;
        const hipTextureAddressMode mode = modes[normalized ? (k - 4) / 2 : k / 2];
        const std::vector<float2> at = places(n, normalized);
        float2 *where = upload(at);
        hipTextureObject_t t = texture_of(array, mode, linear, normalized, hipReadModeElementType);
        sample2_one<<<(n + 63) / 64, 64>>>(t, where, to, n);
        const std::vector<float> got = download(to, n);
        for (int i = 0; i < n; i++) {
            const float want = mean(axis(at[i].x, width, normalized, mode, linear),
                                    axis(at[i].y, height, normalized, mode, linear), none,
                                    [&](int x, int y, int) { return image[y * width + x]; });
            EXPECT(close(got[i], want));
        }
        HIP(hipDestroyTextureObject(t));
        HIP(hipFree(where));
    }
    HIP(hipFreeArray(array));
}

// Signed: ROCm 5.2 takes unsigned ones for signed, too.
static void bytes()
{
    const int n = 1000;
    std::vector<char4> image(width * height);
    for (int i = 0; i < width * height; i++)
        image[i] = make_char4(i % 255 - 127, 1, 2, i * 3 % 255 - 127);
    hipChannelFormatDesc format = hipCreateChannelDesc<char4>();
    hipArray_t array;
    HIP(hipMallocArray(&array, &format, width, height, hipArrayDefault));
    HIP(hipMemcpy2DToArray(array, 0, 0, image.data(), width * 4, width * 4, height,
                           hipMemcpyHostToDevice));
    const std::vector<float2> at = places(n, true);
    hipTextureObject_t t =
        texture_of(array, hipAddressModeWrap, true, true, hipReadModeNormalizedFloat);
    float4 *to = upload(std::vector<float4>(n));
    sample2<<<(n + 63) / 64, 64>>>(t, upload(at), to, n);
    const std::vector<float4> got = download(to, n);
    for (int i = 0; i < n; i++) {
        const Axis x = axis(at[i].x, width, true, hipAddressModeWrap, true);
        const Axis y = axis(at[i].y, height, true, hipAddressModeWrap, true);
        const auto texel = [&](int a, int b, int) { return image[b * width + a]; };
        EXPECT(close(got[i].x, mean(x, y, none, [&](int a, int b, int c) {
                         return texel(a, b, c).x / 127.0f;
                     })));
        EXPECT(close(got[i].w, mean(x, y, none, [&](int a, int b, int c) {
                         return texel(a, b, c).w / 127.0f;
                     })));
    }
    HIP(hipDestroyTextureObject(t));
    HIP(hipFreeArray(array));
}

// Copies a volume, or the layers of an array, from the host.
static hipArray_t volume(const void *from, hipChannelFormatDesc format, unsigned flags)
{
    hipArray_t array;
    HIP(hipMalloc3DArray(&array, &format, make_hipExtent(width, height, depth), flags));
    hipMemcpy3DParms copy = {};
    copy.srcPtr = make_hipPitchedPtr(const_cast<void *>(from), width * 4, width, height);
    copy.dstArray = array;
    copy.extent = make_hipExtent(width, height, depth);
    copy.kind = hipMemcpyHostToDevice;
    HIP(hipMemcpy3D(&copy));
    return array;
}

static void volumes()
{
    const int n = 2000;
    std::vector<float> image(width * height * depth);
    for (size_t i = 0; i < image.size(); i++) image[i] = static_cast<float>(i * 29 % 997) / 8;
    hipArray_t array = volume(image.data(), hipCreateChannelDesc<float>(), hipArrayDefault);
    std::vector<float4> at(n);
    const std::vector<float2> flat = places(n, false);
    for (int i = 0; i < n; i++)
        at[i] = make_float4(flat[i].x, flat[i].y, static_cast<float>(i % 49) / 8 - 0.4f, 0);
    float *to = upload(std::vector<float>(n));
    for (int linear = 0; linear < 2; linear++) {
        hipTextureObject_t t =
            texture_of(array, hipAddressModeClamp, linear, false, hipReadModeElementType);
        sample3<<<(n + 63) / 64, 64>>>(t, upload(at), to, n);
        const std::vector<float> got = download(to, n);
        for (int i = 0; i < n; i++) {
            const float want =
                mean(axis(at[i].x, width, false, hipAddressModeClamp, linear),
                     axis(at[i].y, height, false, hipAddressModeClamp, linear),
                     axis(at[i].z, depth, false, hipAddressModeClamp, linear),
                     [&](int x, int y, int z) { return image[(z * height + y) * width + x]; });
            EXPECT(close(got[i], want));
        }
        HIP(hipDestroyTextureObject(t));
    }
    HIP(hipFreeArray(array));
}

static void layers()
{
    const int n = 1000;
    std::vector<int> image(width * height * depth);
    for (size_t i = 0; i < image.size(); i++) image[i] = static_cast<int>(i * 2654435761u);
    hipArray_t array = volume(image.data(), hipCreateChannelDesc<int>(), hipArrayLayered);
    hipTextureObject_t t =
        texture_of(array, hipAddressModeClamp, false, false, hipReadModeElementType);
    const std::vector<float2> at = places(n, false);
    int *to = upload(std::vector<int>(n));
    sample_layer<<<(n + 63) / 64, 64>>>(t, upload(at), to, n);
    const std::vector<int> got = download(to, n);
    for (int i = 0; i < n; i++) {
        const int x = axis(at[i].x, width, false, hipAddressModeClamp, false).at[0];
        const int y = axis(at[i].y, height, false, hipAddressModeClamp, false).at[0];
        EXPECT(got[i] == image[(i % depth * height + y) * width + x]);
    }
    HIP(hipDestroyTextureObject(t));
    HIP(hipFreeArray(array));
}

// Linear memory has no sampler: what is past its end is 0.
static void plain_memory()
{
    const int n = 200, more = 50;
    std::vector<float4> data(n);
    for (int i = 0; i < n; i++) data[i] = make_float4(i, i + 0.5f, -i, 2 * i);
    hipResourceDesc from = {};
    from.resType = hipResourceTypeLinear;
    from.res.linear.devPtr = upload(data);
    from.res.linear.desc = hipCreateChannelDesc<float4>();
    from.res.linear.sizeInBytes = n * sizeof(float4);
    hipTextureDesc how = {};
    how.readMode = hipReadModeElementType;
    hipTextureObject_t t = 0;
    HIP(hipCreateTextureObject(&t, &from, &how, nullptr));
    float4 *to = upload(std::vector<float4>(n + more, make_float4(9, 9, 9, 9)));
    fetch<<<(n + more + 63) / 64, 64>>>(t, to, n + more);
    const std::vector<float4> got = download(to, n + more);
    for (int i = 0; i < n + more; i++) {
        const float4 want = i < n ? data[i] : make_float4(0, 0, 0, 0);
        EXPECT(got[i].x == want.x && got[i].y == want.y && got[i].z == want.z &&
               got[i].w == want.w);
    }
    HIP(hipDestroyTextureObject(t));
}

static void other_ways()
{
    std::vector<float> image(width * height);
    for (int i = 0; i < width * height; i++) image[i] = i;
    const hipChannelFormatDesc format = hipCreateChannelDesc<float>();
    hipArray_t array, line;
    HIP(hipMallocArray(&array, &format, width, height, hipArrayDefault));
    HIP(hipMemcpy2DToArray(array, 0, 0, image.data(), width * 4, width * 4, height,
                           hipMemcpyHostToDevice));
    HIP(hipMallocArray(&line, &format, width, 0, hipArrayDefault));
    HIP(hipMemcpy2DToArray(line, 0, 0, image.data(), width * 4, width * 4, 1,
                           hipMemcpyHostToDevice));
    float4 *four = upload(std::vector<float4>(width * height));
    float *one = upload(std::vector<float>(width * height)),
          *row = upload(std::vector<float>(width));
    ways<<<height - 1, width - 1>>>(
        texture_of(array, hipAddressModeClamp, false, false, hipReadModeElementType), four, one,
        width);
    sample1<<<1, width>>>(
        texture_of(line, hipAddressModeClamp, false, false, hipReadModeElementType), row);
    const std::vector<float4> got = download(four, width * height);
    const std::vector<float> sum = download(one, width * height), back = download(row, width);
    for (int y = 0; y < height - 1; y++)
        for (int x = 0; x < width - 1; x++) {
            const int i = y * width + x;
            EXPECT(got[i].x == i + width && got[i].y == i + width + 1 && got[i].z == i + 1 &&
                   got[i].w == i);
            EXPECT(sum[i] == 2 * i);
        }
    for (int x = 0; x < width; x++) EXPECT(back[x] == image[x]);
}

// Floats: ROCm 5.2 converts everything to them, whatever the surface has.
static void surfaces()
{
    std::vector<float> image(width * height), back(width * height);
    for (int i = 0; i < width * height; i++) image[i] = i * 0.25f;
    hipChannelFormatDesc format = hipCreateChannelDesc<float>();
    hipArray_t array[2];
    hipSurfaceObject_t surface[2];
    for (int k = 0; k < 2; k++) {
        HIP(hipMallocArray(&array[k], &format, width, height, hipArrayDefault));
        hipResourceDesc from = {};
        from.resType = hipResourceTypeArray;
        from.res.array.array = array[k];
        HIP(hipCreateSurfaceObject(&surface[k], &from));
    }
    HIP(hipMemcpy2DToArray(array[0], 0, 0, image.data(), width * 4, width * 4, height,
                           hipMemcpyHostToDevice));
    turn<<<dim3((width + 15) / 16, (height + 3) / 4), dim3(16, 4)>>>(surface[0], surface[1], width,
                                                                     height);
    HIP(hipMemcpy2DFromArray(back.data(), width * 4, array[1], 0, 0, width * 4, height,
                             hipMemcpyDeviceToHost));
    for (int i = 0; i < width * height; i++) EXPECT(back[i] == image[width * height - 1 - i]);
}

int main()
{
    filters();
    bytes();
    volumes();
    layers();
    plain_memory();
    other_ways();
    surfaces();
    return done("textures");
}
