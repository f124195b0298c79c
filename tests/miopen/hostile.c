/* hostile.c: what the tests of hostile use of the drop-in share. */
#include "hostile.h"

#include "hip_world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool hostile_computes;
static bool has_world; /* around the fake library */
const struct client_shape hostile_shape = { .n = 2,
                                            .c = 8,
                                            .h = 9,
                                            .w = 7,
                                            .k = 12,
                                            .filter = 3,
                                            .pad = 1,
                                            .stride = 1,
                                            .groups = 1,
                                            .type = miopenFloat };

void hostile_begin(const char *device)
{
    setenv("OMP_WAIT_POLICY", "passive", 0); /* threads that spin slow each other down */
    has_world = strstr(device, "fake_hip");
    hostile_computes = !has_world;
    if (!strcmp(device, "cpu"))
        setenv("RMCP_DEVICE", "cpu", 1);
    else if (!client_begin(device))
        exit(99);
    if (!has_world) return;
    if (!world_begin(device)) exit(99);
    unsetenv("RMCP_DEVICE");      /* hip, as in real life */
    setenv("RMCP_GUARD", "0", 1); /* its kernels do nothing, which a trial would find */
    world_node(1, 100100, 3);
    world_devices("gfx1010 0000:03:00.0");
}

void hostile_end(void)
{
    if (has_world) world_end();
}

static void fill(void *memory, size_t n, unsigned seed)
{
    float *host = malloc(n * sizeof *host);
    if (!host) abort();
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        host[i] = (float)(int)(seed >> 28) - 8;
    }
    client_write(memory, host, n * sizeof *host);
    free(host);
}

void hostile_conv(struct client_conv *conv, const struct client_shape *shape, unsigned seed)
{
    assert_true(client_conv_init(conv, shape));
    assert_int_equal(client_describe(conv), miopenStatusSuccess);
    fill(conv->x, conv->n_x, seed);
    fill(conv->w, conv->n_w, seed + 1);
    fill(conv->y, conv->n_y, seed + 2);
}

/* Plain loops over NCHW in double precision, of which integers need little. */
static void reference(const struct client_conv *conv, enum client_pass pass, const float *x,
                      const float *w, const float *y, double *out)
{
    const struct client_shape *s = &conv->shape;
    const int c_group = s->c / s->groups, k_group = s->k / s->groups;
    for (int n = 0; n < s->n; n++)
        for (int k = 0; k < s->k; k++)
            for (int c = 0; c < c_group; c++)
                for (int i = 0; i < conv->out_h * conv->out_w * s->filter * s->filter; i++) {
                    const int q = i % s->filter, p = i / s->filter % s->filter;
                    const int at = i / s->filter / s->filter;
                    const int row = at / conv->out_w * s->stride - s->pad + p;
                    const int column = at % conv->out_w * s->stride - s->pad + q;
                    const int channel = k / k_group * c_group + c;
                    if (row < 0 || row >= s->h || column < 0 || column >= s->w) continue;
                    const int ix = ((n * s->c + channel) * s->h + row) * s->w + column;
                    const int iw = ((k * c_group + c) * s->filter + p) * s->filter + q;
                    const int iy = (n * s->k + k) * conv->out_h * conv->out_w + at;
                    if (pass == CLIENT_FORWARD) out[iy] += (double)x[ix] * w[iw];
                    if (pass == CLIENT_BACKWARD_DATA) out[ix] += (double)y[iy] * w[iw];
                    if (pass == CLIENT_BACKWARD_WEIGHTS) out[iw] += (double)y[iy] * x[ix];
                }
}

static float *on_host(const void *memory, size_t n)
{
    float *host = malloc(n * sizeof *host);
    assert_non_null(host);
    client_read(host, memory, n * sizeof *host);
    return host;
}

void hostile_assert_right(const struct client_conv *conv, enum client_pass pass)
{
    if (!hostile_computes) return;
    const size_t n = pass == CLIENT_FORWARD         ? conv->n_y
                     : pass == CLIENT_BACKWARD_DATA ? conv->n_x
                                                    : conv->n_w;
    float *x = on_host(conv->x, conv->n_x), *w = on_host(conv->w, conv->n_w);
    float *y = on_host(conv->y, conv->n_y);
    const float *got = pass == CLIENT_FORWARD ? y : pass == CLIENT_BACKWARD_DATA ? x : w;
    double *expected = calloc(n, sizeof *expected);
    assert_non_null(expected);
    reference(conv, pass, x, w, y, expected);
    /* Of integers: a product that is left out makes 1 at the least, a transform on a GPU far less.
     */
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)got[i] - expected[i]) < 0.125))
            fail_msg("pass %d, element %zu: %g, expected %g", (int)pass, i, (double)got[i],
                     expected[i]);
    free(expected);
    free(x);
    free(w);
    free(y);
}

void hostile_assert_well(void)
{
    miopenHandle_t handle = NULL;
    assert_int_equal(miopenCreate(&handle), miopenStatusSuccess);
    for (int pass = 0; pass < CLIENT_PASSES; pass++) {
        struct client_conv conv;
        int algorithm = -1;
        hostile_conv(&conv, &hostile_shape, (unsigned)pass);
        assert_int_equal(client_immediate(handle, &conv, (enum client_pass)pass, false), 0);
        hostile_assert_right(&conv, (enum client_pass)pass);
        assert_int_equal(client_find(handle, &conv, (enum client_pass)pass, &algorithm), 0);
        assert_int_equal(client_found(handle, &conv, (enum client_pass)pass, algorithm), 0);
        hostile_assert_right(&conv, (enum client_pass)pass);
        client_conv_deinit(&conv);
    }
    assert_int_equal(miopenDestroy(handle), miopenStatusSuccess);
}

void hostile_assert_status(int status, const char *what)
{
    if (status < miopenStatusSuccess || status > miopenStatusVersionMismatch)
        fail_msg("%s: %d is no status", what, status);
}

void hostile_assert_refused(int status, const char *what)
{
    hostile_assert_status(status, what);
    if (status == miopenStatusSuccess) fail_msg("%s succeeds", what);
}
