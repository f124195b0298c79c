/* devices.c: device files and their replies, as programs see them. */
#define _GNU_SOURCE
#include "driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

void devices_look_like_devices(void **state)
{
    struct stat status;
    (void)state;
    assert_int_equal(fstat(render, &status), 0);
    assert_true(S_ISCHR(status.st_mode) && status.st_rdev == makedev(226, 128));
    assert_int_equal(stat("/dev/kfd", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
    assert_int_equal(stat("/sys/dev/char/226:128/device/drm", &status), 0);
    assert_int_equal(access("/dev/dri/renderD128", R_OK), 0);
    assert_int_equal(access("/dev/dri/renderD129", R_OK), -1);
    assert_int_equal(open("/dev/dri/renderD130", O_RDWR), -1);
    char *path = realpath("/sys/class/drm/renderD128/device", NULL);
    assert_string_equal(path, "/sys/bus/pci/devices/0000:03:00.0");
    free(path);
    const int copy = dup(kfd);
    struct kfd_version version = { 0, 0 };
    assert_int_equal(ioctl(copy, _IOC(_IOC_READ, 'K', KFD_GET_VERSION, sizeof version), &version),
                     0);
    assert_int_equal(version.major, 1);
    close(copy);
    assert_int_equal(ioctl(copy, _IOC(_IOC_READ, 'K', KFD_GET_VERSION, sizeof version), &version),
                     -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(call(0x7f, &version, sizeof version), EINVAL);
}

void answers_fit_shorter_structures(void **state)
{
    uint64_t old[8] = { 0 };
    struct kfd_create_queue bad = { .gpu_id = gpu };
    (void)state;
    assert_int_equal(call(KFD_GET_VERSION, old, 4), 0);
    assert_int_equal(old[0], 1); /* the minor number had no room */
    assert_int_equal(call(KFD_CREATE_QUEUE, &bad, 88), EINVAL);
}

void a_child_begins_anew(void **state)
{
    (void)state;
    const pid_t child = fork();
    if (!child) {
        struct kfd_version version = { 0, 0 };
        const bool stale =
            ioctl(kfd, _IOC(_IOC_READ, 'K', KFD_GET_VERSION, sizeof version), &version) < 0;
        const int again = open("/dev/kfd", O_RDWR);
        _exit(stale && again >= 0 &&
                      !ioctl(again, _IOC(_IOC_READ, 'K', KFD_GET_VERSION, sizeof version), &version)
                  ? 0
                  : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}
