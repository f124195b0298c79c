/* chips.h: the one table of AMD's GPU chips: PCI numbers, products, names, code that serves them.
 *
 * A new chip is one row of chips.inc. Everything here is static and never written to. */
#ifndef RMCP_CHIP_CHIPS_H
#define RMCP_CHIP_CHIPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RMCP_PCI_AMD = 0x1002, RMCP_PCI_NVIDIA = 0x10de }; /* vendor numbers */

enum rmcp_chip_flags {
    RMCP_CHIP_XNACK = 1,     /* code has a setting for page faults that are retried */
    RMCP_CHIP_SRAMECC = 2,   /* … and one for memory with error correction          */
    RMCP_CHIP_INTEGRATED = 4 /* part of a processor                                 */
};

/* Cards and processors with the chip, by PCI device number. */
struct rmcp_chip_part {
    uint32_t first, last;
    uint32_t revision; /* of `first`, where that tells one product; 0: any of these numbers */
    const char *name;  /* without "AMD" */
};

struct rmcp_chip {
    const char *name; /* "gfx1010", or "gfx10-1-generic": code for every chip of a family         */
    uint32_t mach;    /* EF_AMDGPU_MACH, the low byte of a code object's e_flags                  */
    uint32_t version; /* gfx_target_version of the kernel driver, 100100; 0 for a generic target  */
    uint32_t flags;
    const char *generic; /* the generic target whose code it runs; NULL: none      */
    const char *kernels; /* the target that our kernels for it are compiled for;
                            NULL: there are none                                   */
    const char *sibling; /* the chip whose code it runs, or itself; NULL: none                    */
    const char *wheel;   /* release of pytorch.org's wheels that serve it: "rocm6.4"; NULL: none  */
    const struct rmcp_chip_part *parts; /* ends with a NULL name; NULL: none                      */
    const char *const *words; /* as logs call its products; ends with NULL; NULL: no words        */
};

/* The rows by number, by rising version, then the generic targets; NULL past the last one. */
const struct rmcp_chip *rmcp_chip_at(size_t index);

/* NULL when there is none. `name` has `length` characters; rmcp_chip_by_version knows no generic
 * target. */
const struct rmcp_chip *rmcp_chip_by_name(const char *name, size_t length);
const struct rmcp_chip *rmcp_chip_by_mach(uint32_t mach);
const struct rmcp_chip *rmcp_chip_by_version(uint32_t version);

/* By the PCI device number of a card whose vendor is RMCP_PCI_AMD. `*part`, where it is asked for,
 * is the name of the product as far as number and revision tell; NULL when there is no such chip.
 */
const struct rmcp_chip *rmcp_chip_by_pci(uint32_t device, uint32_t revision, const char **part);

/* By what people call a card, and nothing else in the text: "rx5600xt", "AMD Radeon RX 5600 XT",
 * "W5700", "780M". The longest words that are part of the text count, whatever is between letters
 * and digits; no number goes on behind them. */
const struct rmcp_chip *rmcp_chip_by_product(const char *text);

/* "gfx90a" of 90010, whether or not it is in the table: the last two digits are hexadecimal. False:
 * no chip can have that version. */
bool rmcp_chip_name(uint32_t version, char name[static 16]);

#endif
