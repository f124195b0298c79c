/* picture.c: what the waves of one workgroup did, as an SVG drawing. */
#include "sim/timing/model.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SPANS = 1 << 22, COLUMNS = 900, ROW = 14, LEFT = 60, TOP = 46, LEGEND = 20 };
enum { N_KINDS = TIMING_N_REASONS + N_UNITS };

struct span {
    uint32_t from, to;
    uint8_t wave, what;
};

struct timing_picture {
    struct span *spans;
    size_t n, room;
    unsigned n_waves;
};

/* What is drawn as the same: colours of issue are strong, those of waiting are light. */
static const struct {
    const char *name, *colour;
} looks[] = {
    { "vector unit", "#c62828" },   { "LDS", "#1565c0" },           { "vector memory", "#2e7d32" },
    { "scalar, other", "#616161" }, { "dependence", "#ffe0b2" },    { "unit busy", "#ffcdd2" },
    { "waits: LDS", "#bbdefb" },    { "waits: memory", "#c8e6c9" }, { "barrier", "#e1bee7" },
    { "fetch, branch", "#fff59d" }, { "nothing", "#ffffff" },
};
enum { N_LOOKS = sizeof looks / sizeof *looks, NOTHING = N_LOOKS - 1 };

static const uint8_t look_of[N_KINDS] = {
    [TIMING_ISSUE] = 3,
    [TIMING_DEPENDENCE] = 4,
    [TIMING_VALU] = 5,
    [TIMING_LDS] = 5,
    [TIMING_VMEM] = 5,
    [TIMING_WAIT_LDS] = 6,
    [TIMING_WAIT_SMEM] = 7,
    [TIMING_WAIT_LOAD] = 7,
    [TIMING_WAIT_STORE] = 7,
    [TIMING_BARRIER] = 8,
    [TIMING_BRANCH] = 9,
    [TIMING_FETCH] = 9,
    [TIMING_N_REASONS + UNIT_VALU] = 0,
    [TIMING_N_REASONS + UNIT_TRANS] = 0,
    [TIMING_N_REASONS + UNIT_SALU] = 3,
    [TIMING_N_REASONS + UNIT_SMEM] = 3,
    [TIMING_N_REASONS + UNIT_LDS] = 1,
    [TIMING_N_REASONS + UNIT_LOAD] = 2,
    [TIMING_N_REASONS + UNIT_STORE] = 2,
    [TIMING_N_REASONS + UNIT_BRANCH] = 3,
    [TIMING_N_REASONS + UNIT_WAIT] = 3,
    [TIMING_N_REASONS + UNIT_BARRIER] = 3,
    [TIMING_N_REASONS + UNIT_END] = 3,
    [TIMING_N_REASONS + UNIT_OTHER] = 3,
};

struct timing_picture *timing_picture_create(void)
{
    return calloc(1, sizeof(struct timing_picture));
}

void timing_picture_destroy(struct timing_picture *p)
{
    if (!p) return;
    free(p->spans);
    free(p);
}

void picture_begin(struct timing_picture *p, unsigned n_waves)
{
    p->n = 0;
    p->n_waves = n_waves;
}

/* Without memory, or when there are very many, the rest is not drawn. */
void picture_add(struct timing_picture *p, unsigned wave, uint32_t from, uint32_t to, unsigned what)
{
    if (p->n == p->room) {
        const size_t room = p->room ? 2 * p->room : 4096;
        struct span *spans = room > MOST_SPANS ? NULL : realloc(p->spans, room * sizeof *spans);
        if (!spans) return;
        p->spans = spans;
        p->room = room;
    }
    p->spans[p->n++] = (struct span){ from, to, (uint8_t)wave, (uint8_t)what };
}

/* Clocks of each look in each column of a wave. */
static void fill(const struct timing_picture *p, unsigned wave, uint32_t first, double scale,
                 double (*columns)[N_LOOKS])
{
    memset(columns, 0, COLUMNS * sizeof *columns);
    for (size_t i = 0; i < p->n; i++) {
        const struct span *s = &p->spans[i];
        if (s->wave != wave) continue;
        double from = (s->from - first) * scale;
        const double to = (s->to - first) * scale;
        while (from < to && from < COLUMNS) {
            const unsigned column = (unsigned)from;
            const double end = to < column + 1 ? to : column + 1;
            columns[column][look_of[s->what]] += end - from;
            if (end <= from) break;
            from = end;
        }
    }
}

static unsigned most_of(const double column[N_LOOKS])
{
    unsigned best = NOTHING;
    double most = 0.05;
    for (unsigned k = 0; k < NOTHING; k++)
        if (column[k] > most) {
            best = k;
            most = column[k];
        }
    return best;
}

static void draw_wave(double (*columns)[N_LOOKS], unsigned wave, FILE *out)
{
    const unsigned y = TOP + ROW * wave;
    fprintf(out, "<text x=\"4\" y=\"%u\">wave %u</text>\n", y + ROW - 3, wave);
    for (unsigned begin = 0, end; begin < COLUMNS; begin = end) {
        const unsigned look = most_of(columns[begin]);
        for (end = begin + 1; end < COLUMNS && most_of(columns[end]) == look;) end++;
        if (look == NOTHING) continue;
        fprintf(out, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" fill=\"%s\"/>\n",
                LEFT + begin, y, end - begin, ROW - 2, looks[look].colour);
    }
}

static void put_escaped(const char *text, FILE *out)
{
    for (; *text; text++) {
        if (*text == '<' || *text == '&')
            fprintf(out, *text == '<' ? "&lt;" : "&amp;");
        else
            putc((unsigned char)*text < ' ' ? '?' : *text, out);
    }
}

bool timing_picture_write(const struct timing_picture *p, const char *title, FILE *out)
{
    double(*columns)[N_LOOKS] = calloc(COLUMNS, sizeof *columns);
    uint32_t first = UINT32_MAX, last = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (p->spans[i].from < first) first = p->spans[i].from;
        if (p->spans[i].to > last) last = p->spans[i].to;
    }
    if (last <= first) first = 0, last = 1;
    const unsigned height = TOP + ROW * p->n_waves + 2 * LEGEND + 24;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
            "font-family=\"sans-serif\" font-size=\"11\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<text x=\"4\" y=\"16\" "
            "font-size=\"13\">",
            LEFT + COLUMNS + 20, height);
    put_escaped(title, out);
    fprintf(out,
            "</text>\n<text x=\"%d\" y=\"%d\">clock %u</text>\n<text x=\"%d\" y=\"%d\" "
            "text-anchor=\"end\">clock %u (modelled)</text>\n",
            LEFT, TOP - 8, first, LEFT + COLUMNS, TOP - 8, last);
    for (unsigned wave = 0; wave < p->n_waves && columns; wave++) {
        fill(p, wave, first, (double)COLUMNS / (last - first), columns);
        draw_wave(columns, wave, out);
    }
    for (unsigned k = 0; k < NOTHING; k++) {
        const unsigned x = LEFT + k % 6 * 150, y = height - 2 * LEGEND + k / 6 * LEGEND;
        fprintf(out,
                "<rect x=\"%u\" y=\"%u\" width=\"12\" height=\"12\" fill=\"%s\" "
                "stroke=\"#999\"/><text x=\"%u\" y=\"%u\">%s</text>\n",
                x, y, looks[k].colour, x + 16, y + 10, looks[k].name);
    }
    fprintf(out, "</svg>\n");
    const bool ok = columns && !ferror(out);
    free(columns);
    return ok;
}
