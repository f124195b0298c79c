/* sim_args.c: arguments of a simulated kernel, as written on the command line. */
#include "cli/sim.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int read_file(const char *path, unsigned char **bytes, size_t *n)
{
    FILE *file = fopen(path, "rb");
    *bytes = NULL;
    *n = 0;
    if (!file) return cli_complain("sim", "%.300s: %s", path, strerror(errno));
    size_t room = 0;
    for (;;) {
        if (*n == room) {
            room = room ? 2 * room : 65536;
            unsigned char *more = realloc(*bytes, room);
            if (!more) break;
            *bytes = more;
        }
        size_t got = fread(*bytes + *n, 1, room - *n, file);
        if (!got) break;
        *n += got;
    }
    bool ok = feof(file) && !ferror(file);
    fclose(file);
    if (ok) return CLI_OK;
    free(*bytes);
    *bytes = NULL;
    return cli_complain("sim", "%.300s: cannot be read", path);
}

static int make_buffer(struct sim_runner *runner, struct sim_argument *out, size_t bytes,
                       unsigned char fill)
{
    uint64_t address = sim_runner_buffer(runner, bytes, fill, &out->host);
    if (!address) {
        cli_complain("sim", "%.60s: no memory for %zu bytes", out->text, bytes);
        return CLI_INTERNAL;
    }
    memcpy(out->bytes, &address, sizeof address);
    out->n_bytes = sizeof address;
    out->n_host = bytes;
    return CLI_OK;
}

/* buf:BYTES[=BYTE][@FILE], out:BYTES[=BYTE]@FILE, in:FILE */
static int read_buffer(struct sim_runner *runner, const char *value, bool is_output,
                       struct sim_argument *out)
{
    char *end;
    unsigned long fill = 0;
    errno = 0;
    unsigned long long bytes = strtoull(value, &end, 0);
    if (end == value || errno || bytes > SIZE_MAX / 2)
        return cli_complain("sim", "'%.60s' does not begin with a number of bytes", out->text);
    if (*end == '=') {
        fill = strtoul(end + 1, &end, 0);
        if (fill > 255) return cli_complain("sim", "'%.60s': a byte is at most 255", out->text);
    }
    if (*end && *end != '@')
        return cli_complain("sim", "'%.60s': '%.20s' is too much", out->text, end);
    int status = make_buffer(runner, out, (size_t)bytes, (unsigned char)fill);
    if (status || !*end) return status;
    if (is_output) {
        out->to_file = end + 1;
        return CLI_OK;
    }
    unsigned char *file;
    size_t n;
    if ((status = read_file(end + 1, &file, &n))) return status;
    memcpy(out->host, file, n < bytes ? n : (size_t)bytes);
    free(file);
    return CLI_OK;
}

static int read_hex(const char *value, struct sim_argument *out)
{
    size_t length = strlen(value);
    if (length % 2 || length / 2 > sizeof out->bytes)
        return cli_complain("sim", "'%.60s': an even number of digits, at most 128", out->text);
    for (size_t i = 0; i < length / 2; i++) {
        char digits[3] = { value[2 * i], value[2 * i + 1], 0 }, *end;
        out->bytes[i] = (unsigned char)strtoul(digits, &end, 16);
        if (end != digits + 2) return cli_complain("sim", "'%.60s' is not hexadecimal", out->text);
    }
    out->n_bytes = length / 2;
    return CLI_OK;
}

static int read_number(const char *type, const char *value, struct sim_argument *out)
{
    char *end;
    unsigned bits = (unsigned)strtoul(type + 1, NULL, 10);
    errno = 0;
    if (*type == 'f') {
        double d = strtod(value, &end);
        float f = (float)d;
        memcpy(out->bytes, bits == 64 ? (void *)&d : (void *)&f, bits / 8);
    } else if (*type == 'u') {
        unsigned long long u = strtoull(value, &end, 0);
        memcpy(out->bytes, &u, bits / 8); /* little-endian, like the GPU */
    } else {
        long long i = strtoll(value, &end, 0);
        memcpy(out->bytes, &i, bits / 8);
    }
    if (end == value || *end || errno == ERANGE)
        return cli_complain("sim", "'%.60s' is not a number of its type", out->text);
    out->n_bytes = bits / 8;
    return CLI_OK;
}

int sim_argument_read(struct sim_runner *runner, const char *text, struct sim_argument *out)
{
    static const char *const numbers[] = { "i8",  "u8",  "i16", "u16", "i32",
                                           "u32", "i64", "u64", "f32", "f64" };
    const char *colon = strchr(text, ':');
    memset(out, 0, sizeof *out);
    out->text = text;
    if (colon) {
        const char *value = colon + 1;
        size_t n = (size_t)(colon - text);
        if (n == 3 && !strncmp(text, "buf", n)) return read_buffer(runner, value, false, out);
        if (n == 3 && !strncmp(text, "out", n)) return read_buffer(runner, value, true, out);
        if (n == 3 && !strncmp(text, "hex", n)) return read_hex(value, out);
        if (n == 2 && !strncmp(text, "in", n)) {
            unsigned char *file;
            size_t bytes;
            int status = read_file(value, &file, &bytes);
            if (status) return status;
            status = make_buffer(runner, out, bytes, 0);
            if (!status) memcpy(out->host, file, bytes);
            free(file);
            return status;
        }
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            if (n == strlen(numbers[i]) && !strncmp(text, numbers[i], n))
                return read_number(numbers[i], value, out);
    }
    return cli_complain("sim",
                        "argument '%.60s'; known are i32:5, f32:1.5, buf:4096 and others "
                        "that rmcp sim --help lists",
                        text);
}

int sim_argument_save(const struct sim_argument *argument)
{
    if (!argument->to_file) return CLI_OK;
    FILE *file = fopen(argument->to_file, "wb");
    if (file) {
        size_t n = fwrite(argument->host, 1, argument->n_host, file);
        if (!fclose(file) && n == argument->n_host) return CLI_OK;
    }
    cli_complain("sim", "%.300s: %s", argument->to_file, strerror(errno));
    return CLI_INTERNAL;
}

int sim_arguments_place(const struct codeobj_kernel *kernel, const struct sim_argument *arguments,
                        int n, unsigned char *segment, size_t room, size_t *n_bytes)
{
    int used = 0;
    *n_bytes = 0;
    memset(segment, 0, room);
    for (size_t i = 0; i < kernel->n_arguments; i++) {
        const struct codeobj_argument *a = &kernel->arguments[i];
        if (a->hidden) continue;
        if (used == n)
            return cli_complain("sim", "%d arguments; argument %zu ('%.40s', %u bytes) is missing",
                                n, i, a->name, a->size);
        const struct sim_argument *given = &arguments[used++];
        if (given->n_bytes != a->size)
            return cli_complain("sim",
                                "argument %zu '%.40s' has %zu bytes; the kernel's '%.40s' has %u",
                                i, given->text, given->n_bytes, a->name, a->size);
        if (a->offset > room || a->size > room - a->offset)
            return cli_complain("sim", "argument %zu lies at %u", i, a->offset);
        memcpy(segment + a->offset, given->bytes, given->n_bytes);
        if (a->offset + a->size > *n_bytes) *n_bytes = a->offset + a->size;
    }
    if (kernel->has_metadata && used < n)
        return cli_complain("sim", "%d arguments; the kernel takes %d", n, used);
    for (; used < n; used++) { /* without metadata: each at a multiple of its size */
        size_t size = arguments[used].n_bytes;
        size_t align = size && size <= 8 ? size : 8;
        *n_bytes = (*n_bytes + align - 1) / align * align;
        if (*n_bytes > room || size > room - *n_bytes)
            return cli_complain("sim", "more than %zu bytes of arguments", room);
        memcpy(segment + *n_bytes, arguments[used].bytes, size);
        *n_bytes += size;
    }
    return CLI_OK;
}
