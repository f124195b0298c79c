/* sim_args.c: arguments of a simulated kernel, as written on the command line. */
#include "base/convert.h"
#include "base/round.h"
#include "command/sim.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
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

/* A buffer with the bytes of a file. `value` is FILE, or FILE@FILE where the second is written. */
static int read_input(struct sim_runner *runner, const char *value, bool is_output,
                      struct sim_argument *out)
{
    const char *at = is_output ? strrchr(value, '@') : NULL;
    if (!*value) return cli_complain("sim", "'%.60s': no file; write in:FILE", out->text);
    if (is_output && (!at || at == value || !at[1]))
        return cli_complain(
            "sim", "'%.60s': write inout:FILE@FILE, what is read and what is written", out->text);
    char *path = strndup(value, at ? (size_t)(at - value) : strlen(value));
    if (!path) return CLI_INTERNAL;
    unsigned char *file;
    size_t bytes;
    int status = read_file(path, &file, &bytes);
    free(path);
    if (status) return status;
    status = make_buffer(runner, out, bytes, 0);
    if (!status && bytes) memcpy(out->host, file, bytes);
    free(file);
    if (at) out->to_file = at + 1;
    return status;
}

/* buf:BYTES[=BYTE][@FILE], out:BYTES[=BYTE]@FILE */
static int read_buffer(struct sim_runner *runner, const char *value, bool is_output,
                       struct sim_argument *out)
{
    char *end;
    unsigned long fill = 0;
    errno = 0;
    unsigned long long bytes = strtoull(value, &end, 0);
    if (*value < '0' || *value > '9' || errno || bytes > SIZE_MAX / 2)
        return cli_complain("sim", "'%.60s' does not begin with a number of bytes that fits",
                            out->text);
    const bool filled = *end == '=';
    if (filled) {
        const char *byte = end + 1;
        fill = strtoul(byte, &end, 0);
        if (*byte < '0' || *byte > '9' || fill > 255)
            return cli_complain("sim", "'%.60s': a byte is 0 to 255", out->text);
    }
    if (*end && *end != '@')
        return cli_complain("sim", "'%.60s': '%.20s' is too much", out->text, end);
    if (is_output ? !*end || !end[1] : *end && !end[1])
        return cli_complain("sim", "'%.60s': no file; write %s:BYTES@FILE", out->text,
                            is_output ? "out" : "buf");
    int status = make_buffer(runner, out, (size_t)bytes, (unsigned char)fill);
    if (status || !*end) return status;
    if (is_output) {
        out->to_file = end + 1;
        return CLI_OK;
    }
    unsigned char *file;
    size_t n;
    if ((status = read_file(end + 1, &file, &n))) return status;
    if (n > bytes)
        status = cli_complain("sim", "'%.60s': the file has %zu bytes, more than the buffer",
                              out->text, n);
    else if (n < bytes && !filled)
        status = cli_complain("sim",
                              "'%.60s': the file has %zu bytes; buf:%llu=0@FILE fills up the rest",
                              out->text, n, bytes);
    else if (n)
        memcpy(out->host, file, n);
    free(file);
    return status;
}

/* local:BYTES, for a pointer to local memory that the kernel takes. */
static int read_local(const char *value, struct sim_argument *out)
{
    char *end;
    unsigned long bytes = strtoul(value, &end, 0);
    if (*value < '0' || *value > '9' || *end || !bytes || bytes > 65536)
        return cli_complain("sim", "'%.60s': local memory has 1 to 65536 bytes", out->text);
    out->local_bytes = (uint32_t)bytes;
    out->n_bytes = 4;
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

/* f16:X f32:X f64:X; a number too large for its type is no infinity unless it says so. */
static int read_real(unsigned bits, const char *value, struct sim_argument *out)
{
    char *end;
    const double d = strtod(value, &end);
    const float f = (float)d;
    const uint16_t h = rmcp_f16_of_float(f);
    if (end == value || *end) return cli_complain("sim", "'%.60s' is not a number", out->text);
    const bool infinite = bits == 16   ? isinf(rmcp_float_of_f16(h))
                          : bits == 32 ? isinf(f)
                                       : isinf(d);
    if (infinite && !strpbrk(value, "nN")) /* inf, infinity */
        return cli_complain("sim", "'%.60s' is too large for f%u", out->text, bits);
    memcpy(out->bytes,
           bits == 16   ? (const void *)&h
           : bits == 32 ? (const void *)&f
                        : &d,
           bits / 8);
    out->n_bytes = bits / 8;
    return CLI_OK;
}

static int read_number(const char *type, const char *value, struct sim_argument *out)
{
    char *end;
    const unsigned bits = (unsigned)strtoul(type + 1, NULL, 10);
    if (*type == 'f') return read_real(bits, value, out);
    errno = 0;
    const bool negative = *value == '-';
    /* Both are the same 64 bits, little-endian, like the GPU. */
    const uint64_t number =
        negative ? (uint64_t)strtoll(value, &end, 0) : (uint64_t)strtoull(value, &end, 0);
    if (end == value || *end || !((value[negative] >= '0' && value[negative] <= '9')))
        return cli_complain("sim", "'%.60s' is not a whole number", out->text);
    const uint64_t most = UINT64_MAX >> (64 - bits), half = most / 2;
    const bool fits = *type == 'u' ? !negative && number <= most
                      : negative   ? 0 - number <= half + 1
                                   : number <= half;
    if (errno == ERANGE || !fits)
        return *type == 'u' ? cli_complain("sim", "'%.60s': %s goes from 0 to %" PRIu64, out->text,
                                           type, most)
                            : cli_complain("sim", "'%.60s': %s goes from -%" PRIu64 " to %" PRIu64,
                                           out->text, type, half + 1, half);
    memcpy(out->bytes, &number, bits / 8);
    out->n_bytes = bits / 8;
    return CLI_OK;
}

int sim_argument_read(struct sim_runner *runner, const char *text, struct sim_argument *out)
{
    static const char *const numbers[] = { "i8",  "u8",  "i16", "u16", "i32", "u32",
                                           "i64", "u64", "f16", "f32", "f64" };
    const size_t n = strcspn(text, ":");
    memset(out, 0, sizeof *out);
    out->text = text;
    if (text[n]) {
        const char *value = text + n + 1;
        char type[8];
        snprintf(type, sizeof type, "%.*s", n < 7 ? (int)n : 7, text);
        if (!strcmp(type, "buf")) return read_buffer(runner, value, false, out);
        if (!strcmp(type, "out")) return read_buffer(runner, value, true, out);
        if (!strcmp(type, "in")) return read_input(runner, value, false, out);
        if (!strcmp(type, "inout")) return read_input(runner, value, true, out);
        if (!strcmp(type, "local")) return read_local(value, out);
        if (!strcmp(type, "hex")) return read_hex(value, out);
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            if (!strcmp(type, numbers[i])) return read_number(numbers[i], value, out);
    }
    return cli_complain("sim",
                        "argument '%.60s'; known are i32:5, f32:1.5, buf:4096 and others "
                        "that rmcp sim --help lists",
                        text);
}

int sim_arguments_try(const struct sim_argument *arguments, int n)
{
    for (int i = 0; i < n; i++) {
        const char *path = arguments[i].to_file;
        if (!path) continue;
        for (int k = 0; k < i; k++)
            if (arguments[k].to_file && !strcmp(arguments[k].to_file, path))
                return cli_complain("sim", "two buffers would be written to %.300s", path);
        FILE *file = fopen(path, "ab");
        if (!file) return cli_complain("sim", "%.300s: %s", path, strerror(errno));
        fclose(file);
    }
    return CLI_OK;
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

/* Local memory behind what the kernel has by itself: its offset becomes the argument's value. */
static void place_local(const struct codeobj_kernel *kernel, const struct sim_argument *given,
                        unsigned char *at, uint32_t *dynamic_lds)
{
    const uint32_t fixed = kernel->descriptor.group_bytes;
    const uint32_t offset = (fixed + *dynamic_lds + 127) / 128 * 128; /* the widest type: long16 */
    memcpy(at, &offset, sizeof offset);
    *dynamic_lds = offset - fixed + given->local_bytes;
}

int sim_arguments_place(const struct codeobj_kernel *kernel, const struct sim_argument *arguments,
                        int n, unsigned char *segment, size_t room, struct sim_launch *launch)
{
    int used = 0;
    size_t end = 0;
    memset(segment, 0, room);
    for (size_t i = 0; i < kernel->n_arguments; i++) {
        const struct codeobj_argument *a = &kernel->arguments[i];
        if (a->hidden) continue;
        if (used == n)
            return cli_complain("sim",
                                "%d arguments; argument %zu%s%.40s (%s of %u bytes) is missing", n,
                                i, *a->name ? " " : "", a->name, a->kind, a->size);
        const struct sim_argument *given = &arguments[used++];
        if (given->n_bytes != a->size)
            return cli_complain("sim",
                                "argument %zu '%.40s' has %zu bytes; the kernel takes %s%sa %s "
                                "of %u bytes there",
                                i, given->text, given->n_bytes, a->name, *a->name ? ", " : "",
                                a->kind, a->size);
        if (given->local_bytes && strcmp(a->kind, "dynamic_shared_pointer"))
            return cli_complain("sim", "argument %zu '%.40s': the kernel takes a %s there", i,
                                given->text, a->kind);
        if (a->offset > room || a->size > room - a->offset)
            return cli_complain("sim", "argument %zu lies at %u", i, a->offset);
        if (given->local_bytes)
            place_local(kernel, given, segment + a->offset, &launch->dynamic_lds);
        else
            memcpy(segment + a->offset, given->bytes, given->n_bytes);
        if (a->offset + a->size > end) end = a->offset + a->size;
    }
    if (kernel->has_metadata && used < n)
        return cli_complain("sim", "%d arguments; the kernel takes %d", n, used);
    for (; used < n; used++) { /* without metadata: each at a multiple of its size */
        const size_t size = arguments[used].n_bytes;
        const size_t align = size && size <= 8 ? size : 8;
        end = (size_t)rmcp_round_up(end, align);
        if (end > room || size > room - end)
            return cli_complain("sim", "more than %zu bytes of arguments", room);
        if (arguments[used].local_bytes)
            place_local(kernel, &arguments[used], segment + end, &launch->dynamic_lds);
        else
            memcpy(segment + end, arguments[used].bytes, size);
        end += size;
    }
    launch->n_argument_bytes = end;
    return CLI_OK;
}
