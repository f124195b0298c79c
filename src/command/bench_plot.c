/* bench_plot.c: what was timed as SVG pictures; colours are the page's. */
#include "command/bench_page.h"
#include "command/page.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 520, LEFT = 112, RIGHT = 508, ROW = 26 };

/* A logarithmic axis from one place to another. */
struct axis {
    double low, high; /* exponents of 10 */
    double start, end;
};

static struct axis axis_of(double least, double most, double start, double end)
{
    const double low = log10(least), high = log10(most), margin = 0.03 * (high - low) + 0.03;
    return (struct axis){ low - margin, high + margin, start, end };
}

static double at(const struct axis *axis, double value)
{
    return axis->start +
           (log10(value) - axis->low) / (axis->high - axis->low) * (axis->end - axis->start);
}

static bool holds(const struct axis *axis, double value)
{
    return log10(value) >= axis->low && log10(value) <= axis->high;
}

/* The ticks of an axis, one after the other: powers of ten, with 2 and 5 where there is room. */
static bool next_tick(const struct axis *axis, int *number, double *value)
{
    static const double steps[] = { 1, 2, 5 };
    const int n = axis->high - axis->low < 2.5 ? 3 : 1;
    for (;; ++*number) {
        *value = steps[*number % n] * pow(10, floor(axis->low) + (double)(*number / n));
        if (log10(*value) > axis->high) return false;
        if (!holds(axis, *value)) continue;
        ++*number;
        return true;
    }
}

static void begin(FILE *out, int height, const char *label)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" "
            "aria-label=\"%s\">\n",
            WIDTH, height, label);
}

static void dot(FILE *out, double x, double y, const char *class, const struct bench_row *row,
                double seconds)
{
    char time[32];
    fprintf(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>", class, x, y);
    cli_page_text(out, row->text);
    fprintf(out, ": %s</title></circle>\n", cli_seconds(seconds, time));
}

void bench_plot_ratios(FILE *out, const struct bench_page *page, unsigned pass)
{
    double least = 0.5, most = 2;
    int n_classes = 0;
    for (size_t k = 0; bench_classes[k]; k++) {
        bool any = false;
        for (size_t i = 0; i < page->n; i++) {
            const struct bench_row *row = &page->rows[i];
            if (row->pass != pass || strcmp(row->class, bench_classes[k]) || !(row->theirs > 0))
                continue;
            const double ratio = row->theirs / row->seconds;
            any = true;
            if (ratio < least) least = ratio;
            if (ratio > most) most = ratio;
        }
        n_classes += any;
    }
    const struct axis x = axis_of(least, most, LEFT, RIGHT);
    const int bottom = 8 + ROW * n_classes;
    begin(out, bottom + 40, "each layer's ratio, by class");
    double value;
    for (int tick = 0; next_tick(&x, &tick, &value);)
        fprintf(out,
                "<path class=\"%s\" d=\"M%.1f 4V%d\"/><text class=\"m\" x=\"%.1f\" "
                "y=\"%d\">%g</text>\n",
                value == 1 ? "axis" : "grid", at(&x, value), bottom, at(&x, value), bottom + 15,
                value);
    fprintf(out, "<text class=\"m\" x=\"%d\" y=\"%d\">the others' time / ours</text>\n",
            (LEFT + RIGHT) / 2, bottom + 33);
    int line = 0;
    for (size_t k = 0; bench_classes[k]; k++) {
        const double y = 8 + ROW * (line + 0.5);
        double sum = 0;
        size_t n = 0;
        for (size_t i = 0; i < page->n; i++) {
            const struct bench_row *row = &page->rows[i];
            if (row->pass != pass || strcmp(row->class, bench_classes[k]) || !(row->theirs > 0))
                continue;
            const double ratio = row->theirs / row->seconds;
            const double aside = (double)(n * 7 % 11) - 5; /* so that dots do not hide each other */
            dot(out, at(&x, ratio), y + aside, ratio >= 1 ? "us" : "them", row, row->seconds);
            sum += log(ratio);
            n++;
        }
        if (!n) continue;
        const double mean = at(&x, exp(sum / (double)n));
        fprintf(out, "<path class=\"mean\" d=\"M%.1f %.1fV%.1f\"/>", mean, y - 11, y + 11);
        fprintf(out, "<text class=\"e\" x=\"%d\" y=\"%.1f\">%s</text>\n", LEFT - 8, y + 4,
                bench_classes[k]);
        line++;
    }
    fputs("</svg>\n", out);
}

/* The roof: memory's slope up to the multiply-adds' line. */
static void put_roof(FILE *out, const struct bench_page *page, const struct axis *x,
                     const struct axis *y)
{
    const double first = pow(10, x->low), last = pow(10, x->high);
    const double edge = page->flops_per_second / page->bytes_per_second;
    double from = first, lowest = pow(10, y->low) * 1e9 / page->bytes_per_second;
    if (lowest > from) from = lowest;
    if (from < edge && from < last) {
        const double to = edge < last ? edge : last;
        fprintf(out, "<path class=\"roof\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", at(x, from),
                at(y, from * page->bytes_per_second * 1e-9), at(x, to),
                at(y, to * page->bytes_per_second * 1e-9));
    }
    if (edge < last)
        fprintf(out, "<path class=\"roof\" d=\"M%.1f %.1fH%.1f\"/>\n",
                at(x, edge > first ? edge : first), at(y, page->flops_per_second * 1e-9), x->end);
}

void bench_plot_rates(FILE *out, const struct bench_page *page)
{
    enum { TOP = 10, BOTTOM = 320, SIDE = 66 };
    double least[2] = { INFINITY, INFINITY }, most[2] = { 0, 0 };
    for (size_t i = 0; i < page->n; i++) {
        const struct bench_row *row = &page->rows[i];
        const double values[][2] = {
            { row->flops / row->bytes, row->flops / row->seconds * 1e-9 },
            { row->flops / row->bytes, row->theirs > 0 ? row->flops / row->theirs * 1e-9 : 0 },
        };
        for (int k = 0; k < 2; k++)
            for (int d = 0; d < 2; d++) {
                if (!(values[k][1] > 0) || !isfinite(values[k][d])) continue;
                if (values[k][d] < least[d]) least[d] = values[k][d];
                if (values[k][d] > most[d]) most[d] = values[k][d];
            }
    }
    if (!(most[0] > 0 && most[1] > 0)) return;
    const bool roof = page->flops_per_second > 0 && page->bytes_per_second > 0;
    if (roof && page->flops_per_second * 1e-9 > most[1]) most[1] = page->flops_per_second * 1e-9;
    const struct axis x = axis_of(least[0], most[0], SIDE, RIGHT);
    const struct axis y = axis_of(least[1], most[1], BOTTOM, TOP);
    begin(out, BOTTOM + 42, "rates over operations per byte");
    double value;
    for (int tick = 0; next_tick(&x, &tick, &value);)
        fprintf(out,
                "<path class=\"grid\" d=\"M%.1f %dV%d\"/><text class=\"m\" x=\"%.1f\" "
                "y=\"%d\">%g</text>\n",
                at(&x, value), TOP, BOTTOM, at(&x, value), BOTTOM + 16, value);
    for (int tick = 0; next_tick(&y, &tick, &value);)
        fprintf(out,
                "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text class=\"e\" x=\"%d\" "
                "y=\"%.1f\">%g</text>\n",
                SIDE, at(&y, value), RIGHT, SIDE - 7, at(&y, value) + 4, value);
    fprintf(out,
            "<text class=\"m\" x=\"%d\" y=\"%d\">operations per byte (each tensor once)</text>"
            "<text class=\"m\" x=\"14\" y=\"%d\" transform=\"rotate(-90 14 %d)\">GFLOP/s</text>\n",
            (SIDE + RIGHT) / 2, BOTTOM + 36, (TOP + BOTTOM) / 2, (TOP + BOTTOM) / 2);
    for (int ours = 0; ours < 2; ours++)
        for (size_t i = 0; i < page->n; i++) {
            const struct bench_row *row = &page->rows[i];
            const double seconds = ours ? row->seconds : row->theirs;
            if (!(seconds > 0) || !(row->flops > 0) || !(row->bytes > 0)) continue;
            dot(out, at(&x, row->flops / row->bytes), at(&y, row->flops / seconds * 1e-9),
                ours ? "us" : "them", row, seconds);
        }
    if (roof) put_roof(out, page, &x, &y);
    fputs("</svg>\n", out);
}
