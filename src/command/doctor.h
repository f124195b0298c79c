/* doctor.h: how rmcp doctor shows what it found. */
#ifndef RMCP_CLI_DOCTOR_H
#define RMCP_CLI_DOCTOR_H

#include "command/cli.h"
#include "help/doctor/doctor.h"

struct doctor_report {
    const struct doctor_machine *machine;
    struct doctor_finding *findings;
    size_t n_findings, n_verdict[4];
    struct doctor_advice *advice;
    size_t n_advice;
};

void doctor_print_text(const struct doctor_report *report, bool verbose);
int doctor_print_json(const struct doctor_report *report);

#endif
