/* engine_client.c: a handle and an activation forward and backward, for check_engine.sh; prints
 * their statuses, "wrong" where a result is. */
#include "dropin/miopen/api.h"

#include <stdio.h>

static void say(const char *what, miopenStatus_t status, const float *got, const float *expected)
{
    bool right = true;
    for (int i = 0; i < 4 && got; i++) right = right && got[i] == expected[i];
    printf("%s: %s%s\n", what, miopenGetErrorString(status), right || status ? "" : ", wrong");
}

int main(void)
{
    const float one = 1, zero = 0, relu[] = { 1, 0, 3, 0 }, slope[] = { 10, 0, 30, 0 };
    float x[] = { 1, -2, 3, -4 }, y[4] = { 0 }, dy[] = { 10, 20, 30, 40 }, dx[4] = { 0 };
    miopenHandle_t handle = NULL;
    miopenTensorDescriptor_t tensor;
    miopenActivationDescriptor_t activation;
    miopenStatus_t status = miopenCreate(&handle);
    printf("handle: %s\n", miopenGetErrorString(status));
    if (miopenCreateTensorDescriptor(&tensor) ||
        miopenSet4dTensorDescriptor(tensor, miopenFloat, 1, 1, 2, 2) ||
        miopenCreateActivationDescriptor(&activation) ||
        miopenSetActivationDescriptor(activation, miopenActivationRELU, 0, 0, 0))
        return 1;
    status = miopenActivationForward(handle, activation, &one, tensor, x, &zero, tensor, y);
    say("forward", status, y, relu);
    status = miopenActivationBackward(handle, activation, &one, tensor, y, tensor, dy, tensor, x,
                                      &zero, tensor, dx);
    say("backward", status, dx, slope);
    miopenDestroyActivationDescriptor(activation);
    miopenDestroyTensorDescriptor(tensor);
    return miopenDestroy(handle);
}
