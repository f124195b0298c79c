/* sim_speed.c: multiply-adds per second of the executor on one of our kernels.
 * usage: sim_speed FOLDER CHIP [CASE [ALGORITHM [THREADS]]]
 * FOLDER has the code objects of CHIP. Each run is judged against the reference, and its checks are
 * those of the tests: all of them. */
#include "engine/ops/conv/conv.h"
#include "sim/device/device.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A layer of ResNet-50 on four images, 1.85 G multiply-adds. */
static const char default_case[] = "n4c128h56w56k128r3s3p1:fwd";

static bool measure(const struct sim_device_options *options, const char *text,
                    const char *algorithm)
{
    rmcp_conv problem = { .struct_size = sizeof problem };
    int pass = 0;
    rmcp_device *device = NULL;
    struct rmcp_judgement result = { .passed = false };
    rmcp_status status = rmcp_conv_parse(text, &problem, &pass);
    if (!status) status = sim_device_open(options, &device);
    if (!status)
        status =
            rmcp_conv_judge(device, &problem, pass < 0 ? RMCP_CONV_FORWARD : (rmcp_conv_pass)pass,
                            algorithm, RMCP_DATA_INTEGERS, 1, 1e6, &result);
    if (status) {
        fprintf(stderr, "sim_speed: %s\n", rmcp_last_error());
    } else {
        const struct sim_device_counts *c = sim_device_counts(device);
        uint64_t instructions = 0;
        for (int i = 0; i < SIM_N_CLASSES; i++) instructions += c->stats.instructions[i];
        const uint64_t fma = c->stats.lanes[SIM_CLASS_FMA] + 2 * c->stats.lanes[SIM_CLASS_PKFMA];
        printf("%s: %.2f G multiply-adds in %.2f s: %.2f G/s, %.1f M instructions/s; %.2f G in a "
               "second of one core; %s\n",
               text, 1e-9 * (double)fma, c->seconds, 1e-9 * (double)fma / c->seconds,
               1e-6 * (double)instructions / c->seconds, 1e-9 * (double)fma / c->cpu_seconds,
               result.passed ? "right" : result.why);
    }
    rmcp_device_close(device);
    return !status && result.passed;
}

int main(int argc, char **argv)
{
    const int chip = argc > 2 ? sim_device_chip(argv[2]) : -1;
    if (chip < 0) {
        fprintf(stderr, "usage: %s FOLDER CHIP [CASE [ALGORITHM [THREADS]]]\n", argv[0]);
        return 2;
    }
    struct sim_device_options options = {
        .folder = argv[1],
        .sim = { .chip = (enum isa_chip)chip, .checks = SIM_CHECK_ALL },
        .compute_units = 1, /* few units: the largest tile */
    };
    if (argc > 5) options.sim.threads = (unsigned)atoi(argv[5]);
    return measure(&options, argc > 3 ? argv[3] : default_case,
                   argc > 4 ? argv[4] : "implicit_gemm")
               ? 0
               : 1;
}
