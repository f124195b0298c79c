/* chips_dump.c: prints the table of chips, one fact a line, for check_chips.py. */
#include "base/chip/chips.h"

#include <stdio.h>

int main(void)
{
    const struct rmcp_chip *chip;
    for (size_t i = 0; (chip = rmcp_chip_at(i)); i++) {
        printf("chip\t%s\t%u\t%u\t%d\t%d\n", chip->name, (unsigned)chip->mach,
               (unsigned)chip->version, !!(chip->flags & RMCP_CHIP_XNACK),
               !!(chip->flags & RMCP_CHIP_SRAMECC));
        for (const struct rmcp_chip_part *part = chip->parts; part && part->name; part++)
            printf("part\t%s\t%u\t%u\t%u\t%s\n", chip->name, (unsigned)part->first,
                   (unsigned)part->last, (unsigned)part->revision, part->name);
    }
    return 0;
}
