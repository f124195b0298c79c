/* cards.h: descriptions of the simulated cards, read from text and written as a sysfs tree. */
#ifndef RMCP_SIM_CARDS_CARDS_H
#define RMCP_SIM_CARDS_CARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { SIM_MAX_CARDS = 8, SIM_ERROR_MAX = 256 };

/* One card. Every field stands under the same name in the text (data/cards). */
struct sim_card {
    char card[32]; /* short name: rx5600xt */
    char name[64]; /* the name on the box */
    char chip[16]; /* gfx1010 */
    char codename[32];
    uint32_t pci_device, pci_revision, external_revision;
    uint32_t compute_units, shader_engines, arrays_per_engine, cu_per_array, waves_per_simd;
    uint32_t engine_mhz, memory_mhz, memory_bits, memory_mb;
    uint32_t large_bar; /* 1: the host maps all of its memory */
    uint32_t l0_kb, scalar_kb, instruction_kb, l1_kb, l2_kb, l3_kb;
    uint32_t firmware, sdma_firmware;
};

struct sim_machine {
    struct sim_card cards[SIM_MAX_CARDS];
    unsigned n;
};

/* Gives the text of a card by its short name, or NULL. */
typedef const char *sim_card_text(const char *name);

/* Read a description: key and value on each line, "#" starts a comment, "card NAME" begins a card,
 * "include NAME" takes over another description. False: `error` says what is wrong and in which
 * line. */
bool sim_machine_parse(const char *text, sim_card_text *find, struct sim_machine *out,
                       char error[static SIM_ERROR_MAX]);

/* The descriptions that come with the command: the text of one, or NULL; all names ("a, b, c"). */
const char *sim_card_builtin(const char *name);
const char *sim_card_builtin_names(void);
/* What a family of chips does in time, in the form that sim/timing/timing.h reads, or NULL. */
const char *sim_timing_builtin(const char *name);

/* Write such a text; false when `out` has an error. */
bool sim_machine_print(const struct sim_machine *machine, FILE *out);

/* Numbers that follow from a card's place in the machine. */
uint32_t sim_card_gpu_id(unsigned index);       /* what KFD calls it       */
uint32_t sim_card_render_minor(unsigned index); /* /dev/dri/renderD<this>  */
uint32_t sim_card_location(unsigned index);     /* PCI bus << 8            */
uint64_t sim_card_memory(const struct sim_card *card);
/* 100100 for gfx1010. */
uint32_t sim_card_target_version(const struct sim_card *card);

/* Write into folder `root` what the kernel would show of this machine under /sys, /proc and /dev,
 * and the description itself as machine.card. */
bool sim_machine_write(const struct sim_machine *machine, const char *root,
                       char error[static SIM_ERROR_MAX]);

#endif
