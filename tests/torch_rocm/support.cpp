/* What PyTorch's HIP code asks of libraries that know no gfx1010: hipBLASLt, for a handle and a
 * version only; and what a function that was not compiled does instead: it throws its name, which
 * PyTorch makes an error of Python's. */
#include <cstring>
#include <stdexcept>
#include <string>

extern "C" {

int hipblasLtCreate(void **handle)
{
    static int it;
    *handle = &it;
    return 0;
}

int hipblasLtDestroy(void *)
{
    return 0;
}

int hipblasLtGetVersion(void *, int *version)
{
    *version = 0;
    return 0;
}

int hipblasLtGetGitRevision(void *, char *revision)
{
    strcpy(revision, "none");
    return 0;
}

[[noreturn]] void rmcp_not_compiled(const char *name)
{
    throw std::runtime_error(std::string("torch_rocm: not compiled: ") + name);
}
}
