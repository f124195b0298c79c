/* layout_torch.c: a toy libtorch_hip for check_layouts.sh: needs MIOpen, and tells what its calls
 * reach. */
#include <stddef.h>
#include <stdio.h>

int miopenCreate(void **handle);
int miopenDestroy(void *handle);
int miopenGetVersion(size_t *major, size_t *minor, size_t *patch);
int miopenBackendDestroyDescriptor(void *descriptor);

int torch_run(void);
int torch_run(void)
{
    void *handle = NULL;
    size_t major = 0, minor = 0, patch = 0;
    const int version = miopenGetVersion(&major, &minor, &patch);
    const int create = miopenCreate(&handle);
    /* Not implemented by the drop-in: tells whether calls are passed on. */
    const int backend = miopenBackendDestroyDescriptor(NULL);
    const int destroy = miopenDestroy(handle);
    printf("version %d create %d backend %d destroy %d\n", version, create, backend, destroy);
    return create;
}
