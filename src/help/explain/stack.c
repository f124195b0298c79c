/* stack.c: reads the frames of a crash's stack, and says in whose library the program was. */
#include "help/explain/stack.h"

#include "help/explain/automaton.h"
#include "help/explain/order.h"
#include "help/explain/unknown.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 400 }; /* bytes of a line that are looked at */

static const struct explain_library libraries[] = {
    { "libc.so libc-2 libc10 libpthread ld-linux ld-2 libm.so libstdc++ libgcc_s libpython python3 "
      "ntdll kernel32 kernelbase ucrtbase vcruntime msvcp libtorch torch_ c10 libglib libtbb "
      "libgomp libomp libasan libdl",
      NULL, NULL },
    { "libamdhip64 amdhip64", "HIP's runtime library", "rocm-segfault" },
    { "libhsa-runtime64 libhsakmt librocr hsa-runtime64", "ROCm's lower runtime", "rocm-segfault" },
    { "librocblas rocblas libhipblas hipblas", "AMD's library of matrix products",
      "rocm-segfault" },
    { "libMIOpen MIOpen", "AMD's library of convolutions", "rocm-segfault" },
    { "librccl", "RCCL, the communication between GPUs", "rocm-segfault" },
    { "librocfft librocsparse librocsolver librocrand libhipfft libhipsparse libmigraphx",
      "a library of ROCm", "rocm-segfault" },
    { "libggml-hip ggml-hip libggml-cuda ggml-cuda", "llama.cpp's code for ROCm", "rocm-segfault" },
    { "libamdocl amdocl libMesaOpenCL libRusticlOpenCL", "the driver of OpenCL", "rocm-segfault" },
    { "libamd_comgr amd_comgr libhiprtc hiprtc libLLVM libclang-cpp LLVM-", "a compiler",
      "compiler-crash" },
    { "libvulkan_radeon libvulkan_lvp radeonsi_dri libgallium radeonsi amdvlk libGLX_mesa "
      "libEGL_mesa",
      "Mesa's driver of graphics", "rocm-segfault" },
    { "atio6axx atig6pxx atig6txx amdvlk64 amdxc64 amdxx64 atidxx64 amdxn64 atiuxpag amdenc64",
      "AMD's driver of graphics for Windows", "rocm-segfault" },
};

/* Does the line start as a frame does: "#3 0x…", "frame #3: ", "C  [lib…"? */
static bool starts_frame(const char *line, const char *end)
{
    while (line < end && isspace((unsigned char)*line)) line++;
    if (end - line > 6 && !strncmp(line, "frame ", 6)) line += 6;
    return end - line > 3 &&
           ((*line == '#' && isdigit((unsigned char)line[1])) || !strncmp(line, "C  [", 4));
}

/* A frame without a library: "    @     0x7f…  (unknown)" of absl, and Python's faulthandler, which
 * has no comma before "in". */
static bool is_bare_frame(const char *line, const char *end)
{
    for (const char *at = line; at + 12 < end; at++) {
        if (*at == '@' && at[1] == ' ') {
            const char *next = at + 1;
            while (next + 4 < end && *next == ' ') next++;
            return next - at > 2 && next + 4 < end && !memcmp(next, "0x", 2);
        }
        if (memcmp(at, "File \"", 6)) continue;
        const char *quote = memchr(at + 6, '"', (size_t)(end - at - 6));
        if (!quote || end - quote < 12 || memcmp(quote, "\", line ", 8)) return false;
        quote += 8;
        while (quote < end && isdigit((unsigned char)*quote)) quote++;
        return end - quote > 4 && !memcmp(quote, " in ", 4);
    }
    return false;
}

/* The name of a library in the line whose offset or function follows as in a stack; NULL when there
 * is none. */
static const char *find_library(const char *line, const char *end, bool frame, size_t *size)
{
    for (const char *at = line; at + 3 <= end; at++) {
        if (*at != '.') continue;
        const bool so = !memcmp(at, ".so", 3);
        if (!so && (at + 4 > end || (memcmp(at, ".dll", 4) && memcmp(at, ".DLL", 4)))) continue;
        const char *stop = at + (so ? 3 : 4);
        while (stop < end && (*stop == '.' || isdigit((unsigned char)*stop))) stop++;
        const char *next = stop;
        while (next < end && *next == ' ') next++;
        const bool offset = next + 2 < end &&
                            (*next == '+' || *next == '!' || (so && *next == '(' && next == stop));
        const bool listed = !so && end - next > 4 && !memcmp(next, "- 0x", 4);
        if (!offset && !listed && !(frame && (next == end || *next == ')'))) continue;
        const char *start = at;
        while (start > line && !strchr("/\\ ([\t", start[-1])) start--;
        *size = (size_t)(stop - start);
        return start;
    }
    return NULL;
}

static const struct explain_library *library_named(const char *name, size_t size)
{
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        for (const char *one = libraries[i].names; *one;) {
            const size_t length = strcspn(one, " ");
            size_t n = 0;
            while (n < length && n < size && explain_lower(name[n]) == explain_lower(one[n])) n++;
            if (n == length) return &libraries[i];
            one += length + (one[length] == ' ');
        }
    return NULL;
}

void explain_note_stack(struct explain_stack *stack, uint64_t number, const char *line,
                        size_t length)
{
    const char *end = line + (length < LONGEST ? length : LONGEST);
    const bool frame = starts_frame(line, end);
    if (!stack->bare && is_bare_frame(line, end)) {
        stack->bare = number;
        explain_excerpt(stack->bare_excerpt, line, 0, length);
    }
    if (stack->library || stack->closed) return;
    size_t size = 0;
    const char *name = find_library(line, end, frame, &size);
    const struct explain_library *library = name ? library_named(name, size) : NULL;
    if (!library) {
        stack->closed = name != NULL;
        return;
    }
    if (!library->is) return;
    stack->library = library;
    stack->line = number;
    snprintf(stack->name, sizeof stack->name, "%.*s", (int)(size < 60 ? size : 60), name);
    explain_excerpt(stack->excerpt, line, 0, length);
}

/* The stack as a finding of that class. */
static bool add(struct explain_result *r, const char *id, uint64_t line, const char *excerpt,
                bool library)
{
    const struct explain_signature *s = explain_signatures;
    while (s->id && strcmp(s->id, id)) s++;
    if (!s->id || r->n_matches == EXPLAIN_MOST) return false;
    struct explain_match *match = &r->matches[r->n_matches++];
    *match = (struct explain_match){
        .signature = s, .line = line, .last = line, .count = 1, .by_form = true, .by_stack = library
    };
    snprintf(match->excerpt, sizeof match->excerpt, "%s", excerpt);
    return true;
}

bool explain_read_stack(const struct explain_stack *stack, struct explain_result *r)
{
    static const char *const crashes[] = { "rocm-segfault", "uncaught",        "aborted",
                                           "bad-alloc",     "heap-corruption", "compiler-crash",
                                           "mesa-driver" };
    if (!stack->library)
        return stack->bare && !r->n_matches &&
               add(r, "uncaught", stack->bare, stack->bare_excerpt, false);
    struct explain_match *match = NULL;
    bool vague = true, added = false;
    for (size_t i = 0; i < r->n_matches; i++) {
        for (size_t k = 0; k < sizeof crashes / sizeof *crashes; k++)
            if (!match && !strcmp(r->matches[i].signature->id, crashes[k])) match = &r->matches[i];
        vague &= explain_is_vague(r->matches[i].signature);
    }
    if (!match || (vague && strcmp(match->signature->id, stack->library->id))) {
        if (!vague || r->n_matches == EXPLAIN_MOST) return false;
        if (!add(r, stack->library->id, stack->line, stack->excerpt, true)) return false;
        match = &r->matches[r->n_matches - 1];
        added = true;
    }
    if (!*match->where)
        snprintf(match->where, sizeof match->where, "the innermost library of the stack is %s, %s",
                 stack->name, stack->library->is);
    return added;
}
