/* kernarg.c: hidden arguments and the dispatch packet. */
#include "sim/runner/kernarg.h"

#include <string.h>

static uint64_t hidden_value(const char *kind, const struct sim_dispatch *d,
                             const struct sim_options *options, uint32_t dynamic_lds)
{
    const char axis = kind[strlen(kind) - 1];
    const unsigned i = axis == 'y' ? 1 : axis == 'z' ? 2 : 0;
    if (!strncmp(kind, "hidden_block_count_", 19)) return d->grid[i] / d->workgroup[i];
    if (!strncmp(kind, "hidden_group_size_", 18)) return d->workgroup[i];
    if (!strncmp(kind, "hidden_remainder_", 17)) return d->grid[i] % d->workgroup[i];
    if (!strcmp(kind, "hidden_grid_dims")) return d->grid[2] > 1 ? 3 : d->grid[1] > 1 ? 2 : 1;
    if (!strcmp(kind, "hidden_dynamic_lds_size")) return dynamic_lds;
    if (!strcmp(kind, "hidden_private_base")) return options->private_base >> 32;
    if (!strcmp(kind, "hidden_shared_base")) return options->shared_base >> 32;
    if (!strcmp(kind, "hidden_queue_ptr")) return d->queue_address;
    return 0; /* global offsets, and services that are not there */
}

void kernarg_hidden(uint8_t *kernarg, size_t bytes, const struct codeobj_kernel *kernel,
                    const struct sim_dispatch *dispatch, const struct sim_options *options,
                    uint32_t dynamic_lds)
{
    for (size_t i = 0; i < kernel->n_arguments; i++) {
        const struct codeobj_argument *a = &kernel->arguments[i];
        if (!a->hidden || a->size > 8 || a->offset > bytes || a->size > bytes - a->offset) continue;
        uint64_t value = hidden_value(a->kind, dispatch, options, dynamic_lds);
        memcpy(kernarg + a->offset, &value, a->size);
    }
}

void kernarg_packet(uint8_t packet[static 64], const struct sim_dispatch *d,
                    uint64_t descriptor_address)
{
    const uint16_t header = 2 | 1 << 8; /* kernel dispatch, barrier bit */
    const uint16_t setup = d->grid[2] > 1 ? 3 : d->grid[1] > 1 ? 2 : 1;
    memset(packet, 0, 64);
    memcpy(packet, &header, 2);
    memcpy(packet + 2, &setup, 2);
    for (unsigned i = 0; i < 3; i++) {
        const uint16_t size = (uint16_t)d->workgroup[i];
        memcpy(packet + 4 + 2 * i, &size, 2);
        memcpy(packet + 12 + 4 * i, &d->grid[i], 4);
    }
    memcpy(packet + 24, &d->private_bytes, 4);
    memcpy(packet + 28, &d->group_bytes, 4);
    memcpy(packet + 32, &descriptor_address, 8);
    memcpy(packet + 40, &d->kernarg_address, 8);
}
