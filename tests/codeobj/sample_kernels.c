/* sample_kernels.c: device code whose references all have to survive when the code is moved: calls,
 * constants beside the code, pointers to functions in data, data through the global offset table.
 * load_kernels.c knows the results. */
typedef float (*function)(float);
#define ID __builtin_amdgcn_workitem_id_x()
#define KERNEL __attribute__((amdgpu_kernel, visibility("protected"))) void

__attribute__((noinline)) static float twice(float v)
{
    return v * 2 + ID;
}

__attribute__((noinline)) static float square(float v)
{
    return v * v - ID;
}

static const int table[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
function functions[2] = { twice, square };
__attribute__((visibility("default"))) int counter = 5;

KERNEL plain(float *x, int n)
{
    x[ID] = n;
}

KERNEL looks_up(float *x, int n)
{
    x[ID] = table[(ID + n) & 7];
}

KERNEL calls(float *x, int n)
{
    x[ID] = n + twice(x[ID]);
}

KERNEL points(float *x, int n)
{
    x[ID] = functions[n & 1](x[ID]);
}

KERNEL compares(float *x, int n)
{
    x[ID] = functions[n & 1] == (n & 1 ? square : twice);
}

KERNEL counts(float *x, int n)
{
    x[ID] = counter + n;
}

KERNEL stores(float *x, int n)
{
    volatile float kept[64];
    for (int i = 0; i < 64; i++) kept[i] = (float)(i * i + n);
    x[ID] = kept[(ID * 7 + n) & 63] + x[ID];
}
