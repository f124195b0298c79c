/* log.c: probe: the lines of the kernel log that tell of trouble with a GPU. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>

#include "help/doctor/probe.h"

enum { LOG_BYTES = 1 << 20, READ_ALL = 3 };

/* Texts of the kernel's amdgpu and amdkfd drivers. All words of a row must be in the line. */
static const struct {
    enum doctor_log kind;
    const char *words[2];
} signatures[] = {
    { DOCTOR_LOG_ATOMICS, { "skipped device 1002:", "PCI rejects atomics" } },
    { DOCTOR_LOG_UNSUPPORTED, { "not supported in kfd", "" } },
    { DOCTOR_LOG_PAGE_FAULT, { "[gfxhub", "page fault" } },
    { DOCTOR_LOG_PAGE_FAULT, { "[mmhub", "page fault" } },
    { DOCTOR_LOG_PAGE_FAULT, { "VM_L2_PROTECTION_FAULT_STATUS", "" } },
    { DOCTOR_LOG_PAGE_FAULT, { "VM_CONTEXT1_PROTECTION_FAULT_STATUS", "" } },
    { DOCTOR_LOG_PAGE_FAULT, { "amdgpu", "GPU fault detected" } },
    { DOCTOR_LOG_RESET, { "ring ", "timeout, signaled seq=" } },
    { DOCTOR_LOG_RESET, { "ring ", "timeout, but soft recovered" } },
    { DOCTOR_LOG_RESET, { "amdgpu", "device lost from bus" } },
    { DOCTOR_LOG_RESET, { "amdgpu", "GPU reset succeeded" } },
    { DOCTOR_LOG_RESET, { "amdgpu: IP block:", " is hung" } },
    { DOCTOR_LOG_PREEMPTION, { "amdgpu", "remove hardware queue from MES" } },
    { DOCTOR_LOG_PREEMPTION, { "amdgpu", "Failed to evict queue" } },
    { DOCTOR_LOG_RESET, { "amdgpu: GPU reset(", "failed" } },
    { DOCTOR_LOG_RESET, { "amdgpu", "Illegal opcode in command stream" } },
    { DOCTOR_LOG_RESET, { "amdgpu", "SMU: I'm not done with your previous command" } },
    { DOCTOR_LOG_RESET, { "VRAM is lost due to GPU reset", "" } },
    { DOCTOR_LOG_RESET, { "amdgpu", "GPU reset begin!" } },
    { DOCTOR_LOG_PREEMPTION, { "queue_doorbell_id0 is not 0", "preemption time out" } },
    { DOCTOR_LOG_PREEMPTION, { "Failed to evict process queues", "" } },
    { DOCTOR_LOG_PREEMPTION, { "MES failed to respon", "" } },
    { DOCTOR_LOG_PREEMPTION, { "MES might be in unrecoverable state", "" } },
    { DOCTOR_LOG_PREEMPTION, { "cp queue preemption time", "" } },
    { DOCTOR_LOG_PREEMPTION, { "qcm fence wait loop timeout", "" } },
    { DOCTOR_LOG_PREEMPTION, { "unsuccessful queues preemption", "" } },
    { DOCTOR_LOG_PREEMPTION, { "MES ring buffer is full", "" } },
    { DOCTOR_LOG_PREEMPTION, { "amdgpu", "Failed to suspend process" } },
    { DOCTOR_LOG_FIRMWARE, { "Direct firmware load for amdgpu/", "failed with error" } },
    { DOCTOR_LOG_REJECTED, { "Loading of ", " is rejected" } },
    { DOCTOR_LOG_REJECTED, { "Lockdown: ", "unsigned module loading is restricted" } },
    { DOCTOR_LOG_FAILED, { "amdgpu: probe of ", "failed with error" } },
    { DOCTOR_LOG_FAILED, { "amdgpu", "probe with driver amdgpu failed" } },
    { DOCTOR_LOG_FAILED, { "amdgpu", "Fatal error during GPU init" } },
    { DOCTOR_LOG_FAILED, { "amdgpu", "amdgpu_device_ip_init failed" } },
    { DOCTOR_LOG_FAILED, { "hw_init of IP block <", "failed" } },
    { DOCTOR_LOG_HARDWARE, { "amdgpu", "uncorrectable hardware error" } },
    { DOCTOR_LOG_HARDWARE, { "amdgpu", "severity=Uncorrect" } },
    { DOCTOR_LOG_HARDWARE, { "amdgpu", "GPU is in bad status" } },
    { DOCTOR_LOG_HARDWARE, { "[Hardware Error]: CPU ", "Machine Check" } },
    { DOCTOR_LOG_CRASH, { "segfault at ", " in libamdhip64.so" } },
    { DOCTOR_LOG_CRASH, { "segfault at ", " in libhsa-runtime64.so" } },
    { DOCTOR_LOG_CRASH, { "segfault at ", " in libroc" } },
    { DOCTOR_LOG_CRASH, { "segfault at ", " in libhip" } },
    { DOCTOR_LOG_CRASH, { "segfault at ", " in libMIOpen.so" } },
    { DOCTOR_LOG_CRASH, { "segfault at ", " in libtorch_" } },
    { DOCTOR_LOG_CRASH, { "segfault at ", " in libc10" } },
    { DOCTOR_LOG_CRASH, { "segfault at ", " in libamd_comgr.so" } },
    { DOCTOR_LOG_CRASH, { "general protection fault", " in libamdhip64.so" } },
    { DOCTOR_LOG_CRASH, { "general protection fault", " in libhsa-runtime64.so" } },
    { DOCTOR_LOG_CRASH, { "general protection fault", " in libtorch_" } },
    { DOCTOR_LOG_CRASH, { "invalid opcode", " in libtorch_" } },
    /* What is not known, and sounds bad: said, and to be looked at. */
    { DOCTOR_LOG_OTHER, { "amdgpu", " hang" } },
    { DOCTOR_LOG_OTHER, { "amdgpu", "HW Exception" } },
    { DOCTOR_LOG_OTHER, { "amdgpu", "nrecoverable" } },
    { DOCTOR_LOG_OTHER, { "amdgpu", "lockup" } },
    { DOCTOR_LOG_OTHER, { "amdgpu", "poison" } },
    { DOCTOR_LOG_OTHER, { "amdgpu", "queue evicted" } },
    { DOCTOR_LOG_OTHER, { "amdgpu", "timeout" } },
    { DOCTOR_LOG_OTHER, { "amdgpu", "timed out" } },
    { DOCTOR_LOG_OTHER, { "amdgpu", "Fatal" } },
    { DOCTOR_LOG_OTHER, { "kfd", "rror" } },
    { DOCTOR_LOG_OTHER, { "kfd", "ailed" } },
};

/* Displays have trouble of their own, which is not that of compute. */
static bool is_of_display(const char *line)
{
    static const char *const words[] = { "dmub",         "REG_WAIT", "flip_done", "link training",
                                         "lttpr",        "vblank",   "hdcp",      "optc",
                                         "Display Core", "[dc]" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(line, words[i])) return true;
    return false;
}

/* "process python3 pid 12": the name of a program is nobody's business. */
static void hide_process(char *line)
{
    char *crash = strstr(line, "]: segfault at "), *name = crash;
    while (name && name > line && name[-1] != ' ') name--;
    if (name) memmove(name, crash + 3, strlen(crash + 3) + 1); /* "python3[12]: segfault …" */
    char *at = strstr(line, "process "), *pid = at ? strstr(at, " pid ") : NULL;
    if (!pid || pid <= at + 8) return;
    at[8] = '?';
    memmove(at + 9, pid, strlen(pid) + 1);
}

static void scan(const struct doctor_search *search, const char *text)
{
    struct doctor_machine *m = search->machine;
    char kept[8192] = "";
    for (const char *line = text; *line;) {
        size_t length;
        char one[200];
        const char *next = doctor_next_line(line, &length);
        doctor_copy(one, sizeof one, line, length);
        for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
            if (!strstr(one, signatures[i].words[0]) || !strstr(one, signatures[i].words[1]))
                continue;
            if (signatures[i].kind == DOCTOR_LOG_OTHER && is_of_display(one)) break;
            hide_process(one);
            m->log[signatures[i].kind].n++;
            memcpy(m->log[signatures[i].kind].line, one, sizeof one);
            if (m->log[signatures[i].kind].n <= 4 && strlen(kept) + sizeof one + 2 < sizeof kept) {
                strcat(kept, one);
                strcat(kept, "\n");
            }
            break;
        }
        line = next;
    }
    doctor_note(search->view, "/rmcp/kernel.log", kept);
}

void doctor_probe_log(const struct doctor_search *search)
{
    char *text = malloc(LOG_BYTES);
    long n = -1;
    if (!text) return;
    if (search->view->is_live) {
        n = klogctl(READ_ALL, text, LOG_BYTES - 1);
        if (n < 0) n = doctor_read_end(search->view, "/var/log/kern.log", text, LOG_BYTES);
        if (n < 0) n = doctor_read_end(search->view, "/var/log/dmesg", text, LOG_BYTES);
    } else {
        n = doctor_read_end(search->view, "/rmcp/kernel.log", text, LOG_BYTES);
    }
    /* A recording says that the log was not read; one that says nothing of it has a silent log. */
    static const char unread[] = "/rmcp/unread";
    char said[64];
    search->machine->log_read = n >= 0 ? DOCTOR_YES : DOCTOR_NO;
    if (n < 0 && search->view->is_live) doctor_note(search->view, unread, "kernel log\n");
    if (n < 0 && !search->view->is_live &&
        (doctor_read(search->view, unread, said, sizeof said) < 0 || !strstr(said, "kernel log")))
        search->machine->log_read = DOCTOR_UNKNOWN;
    if (n >= 0) {
        text[n] = '\0';
        scan(search, text);
    }
    free(text);
}
