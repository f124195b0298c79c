/* bench_page.c: what was timed, as one page that needs nothing else. */
#include "command/bench_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/page.h"

static const char RULES[] =
    "p{margin:.4em 0}.soft{color:var(--soft)}\n"
    ".cards{display:flex;flex-wrap:wrap;gap:10px;margin:14px 0}"
    ".card{background:var(--card);border:1px solid var(--line);border-radius:8px;"
    "padding:10px 14px}.cards .card{flex:1 1 130px}.card b{display:block;font-size:1.35em}\n"
    ".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,480px),1fr));"
    "gap:10px}.plots h3{font-size:1em;margin:0 0 .3em}\n"
    ".wide{overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:8px}"
    "table{border-collapse:collapse;width:100%;font-size:13px;font-variant-numeric:tabular-nums;"
    "overflow-wrap:normal}td,th{padding:3px 10px;text-align:right;white-space:nowrap;"
    "border-bottom:1px solid var(--line)}th{font-weight:600;color:var(--soft)}"
    "tbody tr:last-child td{border-bottom:0}.t{text-align:left}"
    "td code{font:12px ui-monospace,monospace}.good{color:var(--good)}.bad{color:var(--bad)}\n"
    ".bar{position:relative;min-width:90px}.bar i{position:absolute;left:0;top:2px;bottom:2px;"
    "background:var(--bar);border-radius:0 3px 3px 0}.bar span{position:relative}\n"
    "svg{display:block;width:100%;max-width:680px;margin:0 auto}svg text{font:14px "
    "system-ui,sans-serif;fill:var(--soft)}"
    "svg .m{text-anchor:middle}svg .e{text-anchor:end}svg path{fill:none}"
    "svg .grid{stroke:var(--line)}svg .axis{stroke:var(--soft);stroke-width:1.5}"
    "svg .mean{stroke:var(--ink);stroke-width:3}"
    "svg .roof{stroke:var(--ink);stroke-width:1.5;stroke-dasharray:5 4}"
    "svg .us{fill:var(--us);fill-opacity:.6}svg .them{fill:var(--them);fill-opacity:.6}\n"
    ".key{display:inline-block;width:.7em;height:.7em;border-radius:50%;margin:0 .3em 0 0}"
    ".key.us{background:var(--us)}.key.them{background:var(--them)}\n"
    "summary{cursor:pointer;font-weight:600;margin:1.6em 0 .6em}\n";

static const struct cli_page_style style = {
    .light = "--us:#0b62d6;--them:#b4540a;--good:#267a3d;--bad:#c0271f;--bar:#cfe0fa",
    .dark = "--us:#6aa8ff;--them:#f0a35e;--good:#6cc584;--bad:#ff7b70;--bar:#24405f",
    .rules = RULES,
};

const char *const bench_classes[] = { "1x1",         "1x1 strided", "3x3",
                                      "3x3 strided", "first layer", "larger filters",
                                      "depthwise",   "grouped",     "dilated",
                                      "1-D",         "3-D",         "other",
                                      NULL };

/* The class of a convolution: dimensions first, then what makes its channels special, then its
 * filter; the same as in bench/compare/layers.py. */
static const char *class_of(const struct cli_case *one)
{
    if (one->operation != &rmcp_operation_conv) return "other";
    const struct rmcp_convolution *conv = (const void *)one->problem.bytes;
    const uint32_t dims = conv->problem.dims ? conv->problem.dims : 2;
    bool dilated = false, strided = false, all_1 = true, all_3 = true;
    for (int d = RMCP_MAX_DIMS - (int)dims; d < RMCP_MAX_DIMS; d++) {
        dilated |= conv->dilation[d] > 1 && conv->filter[d] > 1;
        strided |= conv->stride[d] > 1;
        all_1 &= conv->filter[d] == 1;
        all_3 &= conv->filter[d] == 3;
    }
    if (dims != 2) return dims == 1 ? "1-D" : "3-D";
    if (conv->groups > 1) return conv->groups == conv->c ? "depthwise" : "grouped";
    if (dilated) return "dilated";
    if (conv->c <= 4) return "first layer";
    if (all_1) return strided ? "1x1 strided" : "1x1";
    if (all_3) return strided ? "3x3 strided" : "3x3";
    return "larger filters";
}

rmcp_status bench_add(struct bench_page *page, const struct cli_case *one, const char *algorithm,
                      double seconds, double theirs)
{
    if (page->n == page->room) {
        const size_t room = page->room ? 2 * page->room : 64;
        struct bench_row *grown = realloc(page->rows, room * sizeof *grown);
        if (!grown) return rmcp_fail_memory("rows", room * sizeof *grown);
        page->rows = grown;
        page->room = room;
    }
    struct bench_row *row = &page->rows[page->n];
    *row = (struct bench_row){
        .class = class_of(one),
        .pass = one->operation->trait(one->problem.bytes, 0),
        .count = one->count,
        .seconds = seconds,
        .flops = one->operation->flops(one->problem.bytes),
        .bytes = one->operation->bytes(one->problem.bytes),
        .theirs = theirs,
    };
    snprintf(row->label, sizeof row->label, "%s", one->label);
    snprintf(row->algorithm, sizeof row->algorithm, "%.39s", algorithm);
    rmcp_status status =
        rmcp_case_print(one->operation, one->problem.bytes, row->text, sizeof row->text);
    if (!status) page->n++;
    return status;
}

void bench_deinit(struct bench_page *page)
{
    free(page->rows);
    page->rows = NULL;
    page->n = page->room = 0;
}

double bench_share(const struct bench_page *page, const struct bench_row *row, double seconds)
{
    if (!(page->flops_per_second > 0) || !(page->bytes_per_second > 0) || !(seconds > 0)) return 0;
    const double computing = row->flops / page->flops_per_second;
    const double moving = row->bytes / page->bytes_per_second;
    return (computing > moving ? computing : moving) / seconds;
}

/* ---- parts ---- */

/* Three digits that count, and no exponent. */
static const char *number(double value, char text[static 32])
{
    snprintf(text, 32, "%.*f", value >= 100 ? 0 : value >= 10 ? 1 : 2, value);
    return text;
}

/* Means are geometric. */
struct figures {
    size_t n, n_rate, n_theirs, n_slower;
    double rate, share, ratio, worst, best;
};

static struct figures figures_of(const struct bench_page *page, int pass, const char *class)
{
    struct figures f = { .worst = INFINITY };
    for (size_t i = 0; i < page->n; i++) {
        const struct bench_row *row = &page->rows[i];
        if ((pass >= 0 && row->pass != (unsigned)pass) || (class && strcmp(row->class, class)))
            continue;
        f.n++;
        if (row->flops > 0) f.n_rate++, f.rate += log(row->flops / row->seconds * 1e-9);
        f.share += log(fmax(bench_share(page, row, row->seconds), 1e-9));
        if (!(row->theirs > 0)) continue;
        const double ratio = row->theirs / row->seconds;
        f.n_theirs++;
        f.n_slower += ratio < 1;
        f.ratio += log(ratio);
        f.worst = fmin(f.worst, ratio);
        f.best = fmax(f.best, ratio);
    }
    if (f.n_rate) f.rate = exp(f.rate / (double)f.n_rate);
    if (f.n) f.share = exp(f.share / (double)f.n);
    if (f.n_theirs) f.ratio = exp(f.ratio / (double)f.n_theirs);
    return f;
}

static void card(FILE *out, const char *what, double value, const char *unit)
{
    char text[32];
    fprintf(out, "<div class=\"card\"><b>%s%s</b><span class=\"soft\">%s</span></div>\n",
            number(value, text), unit, what);
}

static void put_heading(FILE *out, const struct bench_page *page, const struct figures *all)
{
    fputs("<header><p class=\"soft\">rmcp bench</p>\n<h1>", out);
    cli_page_text(out, page->device);
    fputs("</h1>\n", out);
    if (*page->driver) {
        fputs("<p class=\"soft\">", out);
        cli_page_text(out, page->driver);
        fputs("</p>\n", out);
    }
    if (*page->against) {
        fputs("<p>Compared with ", out);
        cli_page_text(out, page->against);
        fputs(": its time divided by ours; above 1 ours is faster. Means are geometric.</p>\n",
              out);
    }
    if (strstr(page->device, "simulated"))
        fputs("<p><b class=\"bad\">This card is simulated:</b> the times are those of the "
              "simulator on its host, and say nothing about a card.</p>\n",
              out);
    fputs("</header>\n<div class=\"cards\">\n", out);
    fprintf(out, "<div class=\"card\"><b>%zu</b><span class=\"soft\">%s</span></div>\n", page->n,
            page->n == 1 ? "case" : "cases");
    card(out, "GFLOP/s, mean", all->rate, "");
    if (page->flops_per_second > 0)
        card(out, "of the device's limit, mean", all->share * 100, " %");
    if (all->n_theirs) {
        card(out, "times the others' speed, mean", all->ratio, "");
        card(out, "worst", all->worst, "");
        card(out, "best", all->best, "");
        card(out, "of the cases slower", 100.0 * (double)all->n_slower / (double)all->n_theirs,
             " %");
    }
    fputs("</div>\n", out);
}

/* The name of a pass; others than convolutions have passes of their own, which are not told
 * apart here. */
static const char *pass_name(const struct bench_page *page, unsigned pass)
{
    static const char *const names[] = { "forward", "backward data", "backward weights" };
    for (size_t i = 0; i < page->n; i++)
        if (page->rows[i].pass == pass && strcmp(page->rows[i].class, "other") && pass < 3)
            return names[pass];
    return "other operations";
}

static void put_plots(FILE *out, const struct bench_page *page, const struct figures *all)
{
    fputs("<h2>Plots</h2>\n<p><span class=\"key us\"></span>ours", out);
    if (all->n_theirs)
        fputs("; <span class=\"key them\"></span>the others, or slower than them", out);
    fputs(". Each dot is one case; its text is its case string.", out);
    if (page->flops_per_second > 0)
        fprintf(out,
                " Dashed: the device's limit, %.0f GFLOP/s in f32 and %.0f GB/s; Winograd's "
                "algorithms multiply less often than is counted, and may pass it.",
                page->flops_per_second * 1e-9, page->bytes_per_second * 1e-9);
    fputs("</p>\n<div class=\"plots\">\n<section class=\"card\"><h3>Rates</h3>\n", out);
    bench_plot_rates(out, page);
    fputs("</section>\n", out);
    for (unsigned pass = 0; pass < RMCP_MOST_PASSES; pass++) {
        if (!figures_of(page, (int)pass, NULL).n_theirs) continue;
        fprintf(out, "<section class=\"card\"><h3>Ratios: %s</h3>\n", pass_name(page, pass));
        bench_plot_ratios(out, page, pass);
        fputs("</section>\n", out);
    }
    fputs("</div>\n", out);
}

static void put_ratio(FILE *out, double ratio)
{
    fprintf(out, "<td class=\"%s\">%.2f</td>", ratio >= 1 ? "good" : "bad", ratio);
}

static void put_classes(FILE *out, const struct bench_page *page, const struct figures *all)
{
    const bool limit = page->flops_per_second > 0, others = all->n_theirs > 0;
    char text[32];
    fprintf(out,
            "<h2>By class</h2>\n<div class=\"wide\"><table><thead><tr><th class=\"t\">class</th>"
            "<th class=\"t\">pass</th><th>cases</th><th>GFLOP/s</th>%s%s</tr></thead><tbody>\n",
            limit ? "<th>of the limit</th>" : "",
            others ? "<th>ratio</th><th>worst</th><th>best</th>" : "");
    for (size_t k = 0; bench_classes[k]; k++)
        for (unsigned pass = 0; pass < RMCP_MOST_PASSES; pass++) {
            const struct figures f = figures_of(page, (int)pass, bench_classes[k]);
            if (!f.n) continue;
            fprintf(
                out, "<tr><td class=\"t\">%s</td><td class=\"t\">%s</td><td>%zu</td><td>%s</td>",
                bench_classes[k], strcmp(bench_classes[k], "other") ? pass_name(page, pass) : "",
                f.n, number(f.rate, text));
            if (limit) fprintf(out, "<td>%.0f %%</td>", f.share * 100);
            if (others && f.n_theirs) {
                put_ratio(out, f.ratio);
                put_ratio(out, f.worst);
                put_ratio(out, f.best);
            } else if (others) {
                fputs("<td></td><td></td><td></td>", out);
            }
            fputs("</tr>\n", out);
        }
    fputs("</tbody></table></div>\n", out);
}

static void put_rows(FILE *out, const struct bench_page *page, const struct figures *all)
{
    const bool limit = page->flops_per_second > 0, others = all->n_theirs > 0;
    double most = 0;
    char time[32];
    bool labels = false;
    for (size_t i = 0; i < page->n; i++) {
        most = fmax(most, page->rows[i].flops / page->rows[i].seconds);
        labels |= *page->rows[i].label != '\0';
    }
    fprintf(out,
            "<details%s><summary>Every case</summary>\n<div class=\"wide\"><table><thead><tr>%s"
            "<th class=\"t\">case</th><th class=\"t\">algorithm</th><th>time</th>"
            "<th class=\"t\">GFLOP/s</th><th>GB/s</th>%s%s</tr></thead><tbody>\n",
            page->n <= 100 ? " open=\"open\"" : "", labels ? "<th class=\"t\">layer</th>" : "",
            limit ? "<th>of the limit</th>" : "",
            others ? "<th>the others</th><th>ratio</th>" : "");
    for (size_t i = 0; i < page->n; i++) {
        const struct bench_row *row = &page->rows[i];
        fputs("<tr>", out);
        if (labels) {
            fputs("<td class=\"t\">", out);
            cli_page_text(out, row->label);
            fputs("</td>", out);
        }
        fputs("<td class=\"t\"><code>", out);
        cli_page_text(out, row->text);
        fputs("</code></td><td class=\"t\">", out);
        cli_page_text(out, row->algorithm);
        fprintf(out,
                "</td><td>%s</td><td class=\"t bar\"><i style=\"width:%.1f%%\"></i>"
                "<span>%.1f</span></td><td>%.1f</td>",
                cli_seconds(row->seconds, time),
                most > 0 ? row->flops / row->seconds / most * 100 : 0,
                row->flops / row->seconds * 1e-9, row->bytes / row->seconds * 1e-9);
        if (limit) fprintf(out, "<td>%.0f %%</td>", bench_share(page, row, row->seconds) * 100);
        if (others && row->theirs > 0) {
            fprintf(out, "<td>%s</td>", cli_seconds(row->theirs, time));
            put_ratio(out, row->theirs / row->seconds);
        } else if (others) {
            fputs("<td></td><td></td>", out);
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div></details>\n", out);
}

static void put_page(FILE *out, const struct bench_page *page)
{
    const struct figures all = figures_of(page, -1, NULL);
    cli_page_begin(out, "bench", &style);
    put_heading(out, page, &all);
    put_plots(out, page, &all);
    put_classes(out, page, &all);
    put_rows(out, page, &all);
    fprintf(out,
            "<p class=\"soft\">RMCP %d.%d.%d. The fastest of several runs; a convolution counts as "
            "direct "
            "convolution, 2 operations a multiplication; memory counts each tensor as often as it "
            "must "
            "be read or written. This page needs no other file and loads nothing.</p>\n"
            "</main></body></html>\n",
            RMCP_VERSION_MAJOR, RMCP_VERSION_MINOR, RMCP_VERSION_PATCH);
}

int bench_check_page(const char *file)
{
    return cli_page_check("bench", file);
}

int bench_write_page(const struct bench_page *page, const char *file)
{
    FILE *out = NULL;
    const int exit_status = cli_page_open("bench", file, &out);
    if (exit_status) return exit_status;
    put_page(out, page);
    return cli_page_close("bench", file, out);
}
