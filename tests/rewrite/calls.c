/* calls.c: code as compilers make it that refers to other code: calls, pointers to functions,
 * tables, constants, loops whose branches get long when the compiler is told that they are. */
#define GLOBAL __attribute__((address_space(1)))
#define CONSTANT __attribute__((address_space(4)))
#define KERNEL __attribute__((amdgpu_kernel))
#define APART __attribute__((noinline))

typedef int function(int);

static APART int twice(int x)
{
    return 2 * x + 1;
}
static APART int square(int x)
{
    return x * x - 3;
}
static APART int deep(int x)
{
    int y = twice(x);
    for (int i = 0; i < 3; i++) y += square(y & 15) ^ twice(i);
    return y;
}
static APART int deeper(int x)
{
    return deep(x) + deep(x + 1) * 3;
}

static function *const table[] = { twice, square, deep, deeper };
static const int numbers[64] = { 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5, 9,
                                 0, 4, 5, 2, 3, 5, 3, 6, 0, 2, 8, 7 };

KERNEL void calls(GLOBAL int *out, int n)
{
    int i = __builtin_amdgcn_workitem_id_x();
    out[i] = deeper(i + n) + deep(n) + square(i);
}

KERNEL void pointers(GLOBAL int *out, int n)
{
    int i = __builtin_amdgcn_workitem_id_x();
    int sum = 0;
    for (int k = 0; k < n; k++) sum = sum * 5 + table[(i + k) & 3](i ^ k);
    out[i] = sum;
}

KERNEL void constants(GLOBAL int *out, int n)
{
    int i = __builtin_amdgcn_workitem_id_x();
    int sum = n;
    for (int k = 0; k < 8; k++) sum = sum * 3 + numbers[(i * 7 + k * n) & 63];
    out[i] = sum;
}

KERNEL void branches(GLOBAL int *out, int n)
{
    int i = __builtin_amdgcn_workitem_id_x();
    int x = i + 1;
    for (int k = 0; k < n; k++) {
        switch ((x + k) % 11) {
        case 0: x = x * 3 + 1; break;
        case 1: x ^= x >> 3; break;
        case 2: x += numbers[k & 63]; continue;
        case 3:
            for (int t = k; x & 1 && t > 0; t -= 3) x = (x >> 1) + t;
            break;
        case 4: x = twice(x); break;
        case 5: x -= 12345; break;
        case 6:
            if (x > 1000) x %= 1000;
            break;
        case 7: x = (x << 5) ^ (x >> 27); break;
        case 8: x = square(x & 255); break;
        case 9: x = ~x; break;
        default: x++; break;
        }
        if (x < 0) x = -(x + 1);
    }
    out[i] = x;
}
