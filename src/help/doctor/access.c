/* access.c: probe: may this user open the GPU; containers, WSL. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "help/doctor/probe.h"

static const struct {
    const char *name;
    int number;
} errors[] = { { "ok", 0 },          { "EACCES", EACCES }, { "EPERM", EPERM },
               { "EINVAL", EINVAL }, { "ENOMEM", ENOMEM }, { "ENODEV", ENODEV },
               { "ENXIO", ENXIO },   { "EBUSY", EBUSY },   { "EIO", EIO } };

static void read_device(const char *path, struct doctor_device *device)
{
    struct stat about;
    snprintf(device->path, sizeof device->path, "%.39s", path);
    if (stat(path, &about)) return;
    device->exists = true;
    device->mode = about.st_mode & 0777;
    device->uid = about.st_uid;
    device->gid = about.st_gid;
    int file = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    device->open_error = file < 0 ? errno : 0;
    if (file >= 0) close(file);
}

static void read_live(struct doctor_machine *m)
{
    read_device("/dev/kfd", &m->kfd);
    for (int i = 128; i < 192 && m->n_render < DOCTOR_NODES; i++) {
        char path[40];
        snprintf(path, sizeof path, "/dev/dri/renderD%d", i);
        read_device(path, &m->render[m->n_render]);
        if (m->render[m->n_render].exists) m->n_render++;
    }
    m->has_dxg = !access("/dev/dxg", F_OK);
    gid_t groups[DOCTOR_GROUPS];
    int n = getgroups(DOCTOR_GROUPS, groups);
    m->has_user = true;
    m->uid = geteuid();
    const char *sudo = getenv("SUDO_UID");
    m->is_for_other = !m->uid && sudo && *sudo && strcmp(sudo, "0");
    m->groups[m->n_groups++] = getegid();
    for (int i = 0; i < n && m->n_groups < DOCTOR_GROUPS; i++) m->groups[m->n_groups++] = groups[i];
}

static void note_device(char *text, size_t room, const struct doctor_device *device)
{
    const char *error = "EOTHER";
    if (!device->exists) return;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].number == device->open_error) error = errors[i].name;
    const size_t used = strlen(text);
    snprintf(text + used, room - used, "%s c %o %u %u %s\n", device->path, device->mode,
             device->uid, device->gid, error);
}

static void note_live(const struct doctor_search *search)
{
    const struct doctor_machine *m = search->machine;
    char text[8192] = "";
    if (search->view->journal < 0) return;
    note_device(text, sizeof text, &m->kfd);
    for (size_t i = 0; i < m->n_render; i++) note_device(text, sizeof text, &m->render[i]);
    if (m->has_dxg) doctor_append(text, sizeof text, "", "/dev/dxg c 666 0 0 ok\n");
    doctor_note(search->view, "/rmcp/devices", text);
    int n = snprintf(text, sizeof text, "uid %u\ngroups", m->uid ? 1000u : 0u);
    for (size_t i = 0; i < m->n_groups; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, " g:%u", m->groups[i]);
    snprintf(text + n, sizeof text - (size_t)n, "\n");
    doctor_note(search->view, "/rmcp/user", text);
}

/* "/dev/kfd c 660 0 109 EACCES" */
static void read_recorded_device(struct doctor_machine *m, const char *line)
{
    struct doctor_device device = { .exists = true, .open_error = EIO };
    char error[16] = "";
    if (sscanf(line, "%39s c %o %u %u %15s", device.path, &device.mode, &device.uid, &device.gid,
               error) != 5)
        return;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (!strcmp(errors[i].name, error)) device.open_error = errors[i].number;
    if (!strcmp(device.path, "/dev/kfd"))
        m->kfd = device;
    else if (!strcmp(device.path, "/dev/dxg"))
        m->has_dxg = true;
    else if (!strncmp(device.path, "/dev/dri/renderD", 16) && m->n_render < DOCTOR_NODES)
        m->render[m->n_render++] = device;
}

static void read_recorded(const struct doctor_search *search)
{
    struct doctor_machine *m = search->machine;
    char text[8192];
    uint64_t uid;
    doctor_read(search->view, "/rmcp/devices", text, sizeof text);
    for (const char *line = text; *line;) {
        size_t length;
        char one[256];
        const char *next = doctor_next_line(line, &length);
        doctor_copy(one, sizeof one, line, length);
        read_recorded_device(m, one);
        line = next;
    }
    if (doctor_read(search->view, "/rmcp/user", text, sizeof text) < 0) return;
    m->has_user = doctor_number(text, "uid", &uid);
    if (m->has_user) m->uid = (uint32_t)uid;
    char *at = strstr(text, "groups ");
    for (char *save = NULL, *one = at ? strtok_r(at + 7, " \n", &save) : NULL;
         one && m->n_groups < DOCTOR_GROUPS; one = strtok_r(NULL, " \n", &save)) {
        char *colon = strchr(one, ':');
        if (colon) m->groups[m->n_groups++] = (uint32_t)strtoul(colon + 1, NULL, 10);
    }
}

static void read_container(const struct doctor_search *search)
{
    struct doctor_machine *m = search->machine;
    struct doctor_view quiet = *search->view;
    char text[4096];
    quiet.journal = -1; /* it has ids of containers */
    if (doctor_at(search->view, "/.dockerenv") == DOCTOR_FILE) {
        snprintf(m->container, sizeof m->container, "docker");
    } else if (doctor_at(search->view, "/run/.containerenv") == DOCTOR_FILE) {
        snprintf(m->container, sizeof m->container, "podman");
    } else if (doctor_at(search->view, "/.singularity.d") == DOCTOR_FOLDER) {
        snprintf(m->container, sizeof m->container, "apptainer");
    } else if (doctor_at(search->view, "/.flatpak-info") == DOCTOR_FILE) {
        snprintf(m->container, sizeof m->container, "flatpak");
    } else if (doctor_at(search->view, "/var/run/secrets/kubernetes.io") == DOCTOR_FOLDER ||
               doctor_at(search->view, "/run/secrets/kubernetes.io") == DOCTOR_FOLDER) {
        snprintf(m->container, sizeof m->container, "kubernetes");
    } else if (doctor_read(&quiet, "/run/systemd/container", text, sizeof text) > 0) {
        doctor_copy_line(m->container, sizeof m->container, text);
        doctor_note(search->view, "/run/systemd/container", m->container);
    } else if (doctor_read(&quiet, "/proc/1/cgroup", text, sizeof text) > 0) {
        const char *kind = strstr(text, "docker")     ? "docker"
                           : strstr(text, "kubepods") ? "kubernetes"
                           : strstr(text, "lxc")      ? "lxc"
                                                      : "";
        snprintf(m->container, sizeof m->container, "%s", kind);
        doctor_note(search->view, "/proc/1/cgroup", kind);
    }
}

void doctor_probe_access(const struct doctor_search *search)
{
    if (search->view->is_live) {
        read_live(search->machine);
        note_live(search);
    } else {
        read_recorded(search);
    }
    read_container(search);
    uint64_t enforcing;
    search->machine->is_enforcing =
        doctor_read_number(search->view, "/sys/fs/selinux/enforce", &enforcing) && enforcing;
}
