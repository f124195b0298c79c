/* doctor.c: rmcp doctor: what is wrong with this machine, or a recorded one, and what to do. */
#include "command/doctor.h"

#include "command/doctor_html.h"

#include <stdlib.h>
#include <string.h>

/* How the report is wanted. */
struct form {
    bool json, html, verbose;
    const char *file; /* of the page; NULL: standard output */
};

static int report(const struct doctor_machine *machine, const struct form *form)
{
    struct doctor_report all = { .machine = machine };
    int status = CLI_OK;
    all.findings = calloc(doctor_n_rules, sizeof *all.findings);
    all.advice = calloc(doctor_n_options, sizeof *all.advice);
    if (all.findings && all.advice) {
        all.n_findings = doctor_find(machine, all.findings, doctor_n_rules);
        all.n_advice = doctor_advise(machine, all.advice, doctor_n_options);
        for (size_t i = 0; i < all.n_findings; i++) all.n_verdict[all.findings[i].rule->verdict]++;
        if (form->json)
            status = doctor_print_json(&all);
        else if (form->html)
            status = doctor_write_html(&all, form->file);
        else
            doctor_print_text(&all, form->verbose);
        if (!status && all.n_verdict[DOCTOR_PROBLEM]) status = CLI_FINDINGS;
    } else {
        cli_complain("doctor", "out of memory");
        status = CLI_INTERNAL;
    }
    free(all.findings);
    free(all.advice);
    return status;
}

static rmcp_status examine(const char *root, const char *record, struct doctor_machine **machine)
{
    struct doctor_view view;
    if (record) return doctor_record(root, record, machine);
    rmcp_status status = doctor_view_open(&view, root);
    if (status) return status;
    status = doctor_examine(&view, machine);
    doctor_view_close(&view);
    return status;
}

int cli_doctor(int argc, char **argv)
{
    const char *root = NULL, *record = NULL;
    struct form form = { 0 };
    const struct cli_option options[] = {
        { "root", CLI_TEXT, &root, "PATH", "a recorded machine: a folder or a tar file", NULL },
        { "record", CLI_TEXT, &record, "FILE.tar",
          "also write what was looked at, without private data", NULL },
        { "verbose", CLI_FLAG, &form.verbose, NULL,
          "everything: notes, what is well, all options (also -v)", NULL },
        { "json", CLI_FLAG, &form.json, NULL, "print JSON (schema rmcp.doctor/1)", NULL },
        { "html", CLI_FLAG, &form.html, NULL,
          "one page with findings, ways and the decision tree, to FILE or standard output", NULL },
        { 0 },
    };
    const struct cli_usage usage = {
        "doctor",
        "[FILE]",
        "Look at GPUs, driver, permissions, ROCm, PyTorch, variables, kernel log and leftovers of\n"
        "earlier attempts; say what is wrong, why it matters and what cures it; then recommend "
        "how\n"
        "to compute on this machine. Nothing is changed, no driver is loaded, nothing is sent.\n"
        "Exit status: 0 no problem, 1 problems, 2 wrong usage, 3 internal error.",
        "  rmcp doctor\n"
        "  rmcp doctor --record machine.tar   # to send to somebody\n"
        "  rmcp doctor -v --root machine.tar  # what they do with it\n"
        "  rmcp doctor --html doctor.html     # the same to look at in a browser",
        options,
    };
    char long_form[] = "--verbose", html_form[] = "--html";
    for (int i = 0; i < argc; i++)
        if (!strcmp(argv[i], "-v"))
            argv[i] = long_form;
        else if (!strncmp(argv[i], "--html=", 7))
            form.file = argv[i] + 7, argv[i] = html_form;
    int n, status;
    if (!cli_parse(&usage, argc, argv, &n, &status)) return status;
    if (n > 1 || (n && (!form.html || form.file)))
        return cli_complain("doctor", "'%.60s' is one argument too many", argv[n > 1]);
    if (n) form.file = argv[0];
    if (form.file && !*form.file) return cli_complain("doctor", "--html needs the name of a file");
    if (form.html && form.json)
        return cli_complain("doctor", "--html and --json exclude each other");
    struct doctor_machine *machine = NULL;
    rmcp_status failure = examine(root, record, &machine);
    status = failure ? cli_failed("doctor", failure) : report(machine, &form);
    if (!failure && record)
        fprintf(stderr, "rmcp doctor: recorded in %s; look at it before you send it: tar xOf %s\n",
                record, record);
    doctor_release(machine);
    return status;
}
