/* whole_file.c: a file's bytes. */
#include "whole_file.h"

#include <stdio.h>
#include <stdlib.h>

uint8_t *whole_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    long length = -1;
    if (file && !fseek(file, 0, SEEK_END)) length = ftell(file);
    uint8_t *bytes = length < 0 ? NULL : malloc((size_t)length + 1);
    if (bytes) rewind(file);
    if (!bytes || fread(bytes, 1, (size_t)length, file) != (size_t)length) {
        perror(path);
        exit(2);
    }
    fclose(file);
    *size = (size_t)length;
    return bytes;
}
