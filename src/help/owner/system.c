/* system.c: kernel, clocks and kernel log, read without asking the card. */
#include "help/owner/system.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { MOST_CARDS = 16, LOG_LINES = 80, LINE = 400 };

/* The first bytes of a small file, without the last line end; false when it cannot be read. */
static bool read_small(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0) close(fd);
    if (n < 0) return false;
    while (n > 0 && text[n - 1] == '\n') n--;
    text[n] = '\0';
    return true;
}

rmcp_status system_note_versions(struct journal *journal)
{
    struct utsname name;
    char text[4096], line[256] = "unknown";
    if (!uname(&name)) snprintf(line, sizeof line, "%.60s %.120s", name.sysname, name.release);
    rmcp_status status = journal_note(journal, "kernel", line);
    const char *pretty =
        read_small("/etc/os-release", text, sizeof text) ? strstr(text, "PRETTY_NAME=") : NULL;
    if (pretty && !status) {
        pretty += strlen("PRETTY_NAME=");
        snprintf(line, sizeof line, "%.*s", (int)strcspn(pretty, "\n"), pretty);
        status = journal_note(journal, "distribution", line);
    }
    const char *override = getenv("HSA_OVERRIDE_GFX_VERSION");
    if (!status)
        status = journal_note(journal, "HSA_OVERRIDE_GFX_VERSION", override ? override : "not set");
    return status;
}

static rmcp_status note_card(struct journal *journal, const char *root, int card)
{
    static const char *const files[] = { "pp_dpm_sclk",
                                         "pp_dpm_mclk",
                                         "vbios_version",
                                         "current_link_speed",
                                         "current_link_width",
                                         "fw_version/mec_fw_version",
                                         "fw_version/smc_fw_version" };
    char path[512], text[512], key[64];
    snprintf(path, sizeof path, "%s/class/drm/card%d/device/vendor", root, card);
    if (!read_small(path, text, sizeof text) || strcmp(text, "0x1002")) return RMCP_OK;
    rmcp_status status = RMCP_OK;
    for (size_t i = 0; i < sizeof files / sizeof *files && !status; i++) {
        snprintf(path, sizeof path, "%s/class/drm/card%d/device/%s", root, card, files[i]);
        snprintf(key, sizeof key, "card%d %s", card, files[i]);
        if (read_small(path, text, sizeof text)) status = journal_note(journal, key, text);
    }
    return status;
}

/* One record of /dev/kmsg a read; the text is between the first ';' and the line's end. */
static rmcp_status note_log(struct journal *journal)
{
    int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return journal_note(
            journal, "kernel log",
            "not readable; please add the output of: sudo dmesg | grep -iE 'amdgpu|kfd'");
    static char lines[LOG_LINES][LINE];
    size_t n = 0;
    char record[8192];
    for (ssize_t got;
         (got = read(fd, record, sizeof record - 1)) > 0 || (got < 0 && errno == EPIPE);) {
        if (got < 0) continue; /* it was overwritten while we read */
        record[got] = '\0';
        const char *text = strchr(record, ';');
        if (!text || (!strstr(text, "amdgpu") && !strstr(text, "kfd"))) continue;
        snprintf(lines[n++ % LOG_LINES], LINE, "%.*s", (int)strcspn(text + 1, "\n"), text + 1);
    }
    close(fd);
    rmcp_status status = RMCP_OK;
    size_t first = n > LOG_LINES ? n - LOG_LINES : 0;
    for (size_t i = first; i < n && !status; i++) {
        char key[32];
        snprintf(key, sizeof key, "kernel log %zu", i - first + 1);
        status = journal_note(journal, key, lines[i % LOG_LINES]);
    }
    return status;
}

rmcp_status system_note_cards(struct journal *journal)
{
    const char *root = getenv("RMCP_SYSFS_ROOT");
    rmcp_status status = RMCP_OK;
    for (int card = 0; card < MOST_CARDS && !status; card++)
        status = note_card(journal, root && *root ? root : "/sys", card);
    return status ? status : note_log(journal);
}
