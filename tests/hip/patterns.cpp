// patterns.cpp: silicon-bug patterns of gfx101x that a program may have in it, each in a kernel of its own, beside
// one without any. Compilers keep them out of code for these chips, so they are written by hand; without the bugs
// every result is right. Prints which are not.
#include "check.h"

// The last scalar instruction that read EXEC, overtaken by v_cmpx.
__global__ void exec_read(unsigned *out)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned lane = threadIdx.x % 32;
    unsigned mask;
    asm volatile("s_mov_b32 s40, exec_lo\n\t"
                 "s_mov_b32 s41, exec_lo\n\t"
                 "v_cmpx_gt_u32 16, %1\n\t"
                 "s_nop 0\n\t"
                 "s_mov_b32 exec_lo, -1\n\t"
                 "v_mov_b32 %0, s41"
                 : "=v"(mask)
                 : "v"(lane)
                 : "s40", "s41", "memory");
    out[i] = mask == 0xffffffff;
}

// FLAT with an offset.
__global__ void flat_offset(unsigned *out, const unsigned *in)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value;
    asm volatile("flat_load_dword %0, %1 offset:256\n\t"
                 "s_waitcnt vmcnt(0) lgkmcnt(0)"
                 : "=v"(value)
                 : "v"(in + i)
                 : "memory");
    out[i] = value == i + 64;
}

// The address of a load, overwritten behind it.
__global__ void address_write(unsigned *out, const unsigned *in)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value;
    asm volatile("s_mov_b64 s[40:41], %1\n\t"
                 "s_mov_b64 s[42:43], %3\n\t"
                 "global_load_dword %0, %2, s[40:41]\n\t"
                 "s_mov_b64 s[40:41], s[42:43]\n\t"
                 "s_waitcnt vmcnt(0)"
                 : "=&v"(value)
                 : "s"(in), "v"(4 * i), "s"(in + 64)
                 : "s40", "s41", "s42", "s43", "memory");
    out[i] = value == i;
}

__global__ void plain(unsigned *out, const unsigned *in)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] + 1 == in[i + 1];
}

static unsigned wrong(const unsigned *device, unsigned n)
{
    unsigned count = 0;
    for (unsigned x : download(device, n)) count += x != 1;
    return count;
}

int main(int argc, char **argv)
{
    const unsigned n = 2048;
    const bool only_plain = argc > 1 && !std::strcmp(argv[1], "plain");
    std::vector<unsigned> numbers(n + 256);
    for (unsigned i = 0; i < numbers.size(); i++) numbers[i] = i;
    unsigned *in = upload(numbers), *out = upload(std::vector<unsigned>(n));
    for (int launch = 0; launch < 2; launch++) {
        plain<<<n / 64, 64>>>(out, in);
        std::printf("plain: %u wrong\n", wrong(out, n));
        if (only_plain) continue;
        exec_read<<<n / 64, 64>>>(out);
        std::printf("vcmpx-exec-war: %u wrong\n", wrong(out, n));
        flat_offset<<<n / 64, 64>>>(out, in);
        std::printf("flat-offset: %u wrong\n", wrong(out, n));
        address_write<<<n / 64, 64>>>(out, in);
        std::printf("vmem-scalar-write: %u wrong\n", wrong(out, n));
    }
    return 0;
}
