/* packed.c: a file without GPU code may be one that has to be unpacked first. */
#include <stdio.h>
#include <string.h>

#include "code/codeobj/walk.h"
#include "command/cli.h"

void cli_complain_no_code(const char *command, const char *path)
{
    unsigned char start[512];
    bool compressed = false;
    FILE *file = fopen(path, "rb");
    const size_t n = file ? fread(start, 1, sizeof start, file) : 0;
    if (file) fclose(file);
    const char *packed = codeobj_packed_as(start, n, &compressed);
    const size_t length = strlen(path);
    const bool is_wheel = length >= 4 && !strcmp(path + length - 4, ".whl");
    /* rmcp audit looks into what is not compressed, and into zip files. */
    if (packed && (compressed || (!strcmp(command, "repair") && !is_wheel)))
        cli_complain(command, "%.400s: %s, which is not looked into: unpack it first", path,
                     packed);
    else
        cli_complain(command, "%.400s: no GPU code in it", path);
}
