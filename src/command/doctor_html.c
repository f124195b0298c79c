/* doctor_html.c: rmcp doctor's report as one page that needs nothing else. */
#include "command/doctor_html.h"

#include <string.h>

#include "command/page.h"

static const char RULES[] =
    "h3{font-size:1em;margin:0}p{margin:.4em 0}.soft{color:var(--soft)}\n"
    ".card{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:12px 14px;"
    "margin:0 0 10px}\n"
    ".first{border:2px solid var(--way)}\n"
    ".problem{border-left:5px solid var(--problem)}.warning{border-left:5px solid var(--warning)}"
    ".note{border-left:5px solid var(--note)}.ok{border-left:5px solid var(--ok)}\n"
    ".badge{font-size:.8em;font-weight:600;margin-right:.5em}"
    ".problem .badge,b.problem{color:var(--problem)}.warning .badge,b.warning{color:var(--warning)}"
    ".note .badge,b.note{color:var(--note)}.ok .badge,b.ok{color:var(--ok)}"
    "b.problem,b.warning,b.note,b.ok{border:0;margin-right:1em;white-space:nowrap}\n"
    "pre,code{font:13px/1.5 ui-monospace,monospace}\n"
    "pre{background:var(--code);border-radius:6px;padding:8px 10px;margin:.6em 0 0;"
    "white-space:pre-wrap}pre code{display:block;padding-left:1.4em;text-indent:-1.4em}"
    "pre i{color:var(--soft);font-style:normal}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 12px;margin:.5em 0}"
    "dt{color:var(--soft)}dd{margin:0}\n"
    "summary{cursor:pointer}details.card>summary{font-weight:600}"
    "details.card[open]>summary{margin-bottom:.5em}\n"
    "svg{display:block;width:100%;max-width:470px;margin:0 auto}"
    "svg rect{fill:var(--card);stroke:var(--line)}svg path{fill:none;stroke:var(--line)}"
    "svg text{font:12px system-ui,sans-serif;fill:var(--soft)}"
    "svg .a{font-size:11px;font-style:italic}svg .c,svg .w{font-size:11px}\n"
    "svg .on rect{fill:var(--tint);stroke:var(--way);stroke-width:2}"
    "svg path.on{stroke:var(--way);stroke-width:3}svg .on text{fill:var(--ink)}"
    "svg .on .t{font-weight:600}svg .w{fill:var(--way);font-weight:600}svg .on .w{fill:var(--way)}"
    "svg .also rect{stroke:var(--way);stroke-dasharray:4 3}\n"
    "@media(min-width:1000px){.two{display:grid;grid-template-columns:minmax(0,1fr) 450px;gap:28px;"
    "align-items:start}body{padding:28px}}\n"
    "@media print{body{background:#fff}.card,svg{break-inside:avoid}}\n";

static const struct cli_page_style style = {
    .light = "--way:#0b62d6;--tint:#e8f0fd;--problem:#c0271f;--warning:#9a6200;"
             "--note:#2c6e8f;--ok:#267a3d;--code:#f0f2f6",
    .dark = "--way:#6aa8ff;--tint:#1c2c45;--problem:#ff7b70;--warning:#e3ad4c;"
            "--note:#72b9db;--ok:#6cc584;--code:#151920",
    .rules = RULES,
};

static void tagged(FILE *out, const char *before, const char *text, const char *after)
{
    fputs(before, out);
    cli_page_text(out, text);
    fputs(after, out);
}

static void entry(FILE *out, const char *name, const char *text)
{
    if (!*text) return;
    fprintf(out, "<dt>%s</dt>", name);
    tagged(out, "<dd>", text, "</dd>\n");
}

/* ---- parts ---- */

/* Commands one below the other; what wraps is indented, so that each can be told from the next. */
static void put_commands(FILE *out, const char *text)
{
    char line[DOCTOR_COMMAND];
    fputs("<pre>", out);
    while (*text) {
        const size_t length = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        char *remark = strstr(line, "   # ");
        if (remark) *remark = '\0';
        tagged(out, "<code>", line, "");
        if (remark) tagged(out, "<i>   ", remark + 3, "</i>");
        fputs("\n</code>", out);
        text += length + (text[length] == '\n');
    }
    fputs("</pre>", out);
}

static void put_finding(FILE *out, const struct doctor_finding *finding)
{
    const char *verdict = doctor_verdict_name(finding->rule->verdict);
    fprintf(out, "<section class=\"card %s\" id=\"%s\">", verdict, finding->rule->id);
    fprintf(out, "<h3><span class=\"badge\">%s</span>", verdict);
    tagged(out, "", finding->rule->title, "</h3>\n");
    tagged(out, "<p>", finding->seen, "</p>\n");
    if (*finding->why) tagged(out, "<p class=\"soft\">", finding->why, "</p>\n");
    if (*finding->fix) put_commands(out, finding->fix);
    fputs("</section>\n", out);
}

static void put_advice(FILE *out, const struct doctor_advice *advice, size_t rank)
{
    const struct doctor_option *option = advice->option;
    fprintf(out,
            rank == 1 ? "<section class=\"card first\" id=\"way-%zu\"><h3>%zu. "
                      : "<details class=\"card\" id=\"way-%zu\"><summary>%zu. ",
            rank, rank);
    tagged(out, "", option->title, rank == 1 ? "</h3>\n" : "</summary>\n");
    fputs("<dl>", out);
    entry(out, "cost", option->cost);
    entry(out, "time", option->effort);
    entry(out, "result", option->result);
    entry(out, "risk", option->risk);
    entry(out, "known", option->evidence);
    fputs("</dl>", out);
    if (*advice->command) put_commands(out, advice->command);
    fputs(rank == 1 ? "</section>\n" : "</details>\n", out);
}

static void put_heading(FILE *out, const struct doctor_report *report)
{
    const struct doctor_machine *m = report->machine;
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    for (size_t i = 0; i < m->n_gpus && !gpu; i++)
        if (m->gpus[i].vendor == DOCTOR_NVIDIA) gpu = &m->gpus[i];
    fputs("<header><p class=\"soft\">rmcp doctor</p>\n", out);
    tagged(out, "<h1>", gpu ? gpu->name : "No GPU that can be seen", "");
    if (gpu && *gpu->chip) tagged(out, ", ", gpu->chip, "");
    if (gpu && gpu->vram) fprintf(out, ", %.1f GiB", (double)gpu->vram / (1u << 30));
    fputs("</h1>\n<p class=\"soft\">", out);
    tagged(out, "Linux ", m->kernel, "");
    if (*m->os_id) tagged(out, "; ", m->os_id, "");
    if (*m->os_version) tagged(out, " ", m->os_version, "");
    if (*m->container) tagged(out, "; in ", m->container, "");
    fputs(m->is_recorded ? "; a recorded machine</p>\n<p>" : "</p>\n<p>", out);
    static const char *const many[] = { "well", "notes", "warnings", "problems" };
    for (int verdict = DOCTOR_PROBLEM; verdict >= DOCTOR_OK; verdict--)
        fprintf(out, "<b class=\"%s\">%zu %.*s</b>\n",
                doctor_verdict_name((enum doctor_verdict)verdict), report->n_verdict[verdict],
                (int)strlen(many[verdict]) -
                    (verdict != DOCTOR_OK && report->n_verdict[verdict] == 1),
                many[verdict]);
    fputs("</p></header>\n", out);
}

static void put_findings(FILE *out, const struct doctor_report *report)
{
    size_t i = 0;
    fputs("<h2>What was found</h2>\n", out);
    for (; i < report->n_findings && report->findings[i].rule->verdict >= DOCTOR_WARNING; i++)
        put_finding(out, &report->findings[i]);
    if (!i) fputs("<p>No problem and no warning.</p>\n", out);
    if (i == report->n_findings) return;
    fprintf(out, "<details class=\"card\"><summary>%zu more: notes, and what is well</summary>\n",
            report->n_findings - i);
    for (; i < report->n_findings; i++) put_finding(out, &report->findings[i]);
    fputs("</details>\n", out);
}

void doctor_html_page(FILE *out, const struct doctor_report *report)
{
    cli_page_begin(out, "doctor", &style);
    put_heading(out, report);
    fputs("<div class=\"two\"><div>\n<h2>What to do, best first</h2>\n", out);
    for (size_t i = 0; i < report->n_advice; i++) put_advice(out, &report->advice[i], i + 1);
    put_findings(out, report);
    fputs("</div><div>\n<h2>The way through the tree</h2>\n", out);
    doctor_html_tree(out, report);
    fputs(
        "<p class=\"soft\">Blue: where this machine is led. Dashed: ways that are open, too. "
        "Prices "
        "are those of late 2025.</p>\n</div></div>\n"
        "<p class=\"soft\">This page needs no other file and loads nothing. It has paths and "
        "settings "
        "of the machine in it: look at it before you show it to others; rmcp doctor --record takes "
        "names out.</p>\n</main></body></html>\n",
        out);
}

int doctor_write_html(const struct doctor_report *report, const char *file)
{
    FILE *out = NULL;
    const int exit_status = cli_page_open("doctor", file, &out);
    if (exit_status) return exit_status;
    doctor_html_page(out, report);
    return cli_page_close("doctor", file, out);
}
