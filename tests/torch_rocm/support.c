/* What PyTorch's HIP code asks of libraries that know no gfx1010: hipBLASLt, for a handle and a
 * version only; and the end of a program that reaches a function that was not compiled. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int hipblasLtCreate(void **handle)
{
    static int it;
    *handle = &it;
    return 0;
}

int hipblasLtDestroy(void *handle)
{
    (void)handle;
    return 0;
}

int hipblasLtGetVersion(void *handle, int *version)
{
    (void)handle;
    *version = 0;
    return 0;
}

int hipblasLtGetGitRevision(void *handle, char *revision)
{
    (void)handle;
    strcpy(revision, "none");
    return 0;
}

_Noreturn void rmcp_not_compiled(const char *name)
{
    fprintf(stderr, "torch_rocm: not compiled: %s\n", name);
    fflush(NULL);
    _exit(70);
}
