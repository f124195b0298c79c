/* state.c: the one simulated machine of a process: found, opened on first use, forgotten by
 * children. */
#define _GNU_SOURCE
#include "sim/driver/driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define KFD_FILE_BYTES ((long long)driver_kfd_offset(SIM_MAX_CARDS))
/* The file behind a card's memory is sparse and never reused, so it is as long as can be. */
#define MEMORY_FILE_BYTES (1ll << 50)

struct driver driver = { .kfd_fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER };
static bool started;

const char *driver_root(void)
{
    static const char *_Atomic root;
    static atomic_bool known;
    if (!atomic_load_explicit(&known, memory_order_acquire)) {
        const char *value = getenv(SIM_ENV_ROOT);
        char *copy = value && value[0] == '/' ? strdup(value) : NULL;
        atomic_store(&root, copy);
        atomic_store_explicit(&known, true, memory_order_release);
    }
    return atomic_load_explicit(&root, memory_order_relaxed);
}

void driver_log(const char *format, ...)
{
    static _Atomic int wanted = -1;
    if (wanted < 0) {
        const char *value = getenv(SIM_ENV_LOG);
        wanted = value && *value && strcmp(value, "0");
    }
    if (!wanted) return;
    char line[512];
    int n = snprintf(line, sizeof line, "[sim %d] ", (int)getpid());
    va_list arguments;
    va_start(arguments, format);
    const int more = vsnprintf(line + n, sizeof line - (size_t)n - 1, format, arguments);
    va_end(arguments);
    n = n + more < (int)sizeof line - 1 ? n + more : (int)sizeof line - 2;
    line[n++] = '\n';
    if (write(2, line, (size_t)n) < 0) return;
}

/* As the kernel's driver counts it: HIP compares it with the host's own clock where an event has
 * waited for nothing. */
uint64_t driver_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
    const char *value = getenv(variable);
    return value && *value ? strtoull(value, NULL, 0) : otherwise;
}

static char *text_from(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value ? strdup(value) : NULL;
}

static void read_options(void)
{
    static bool known;
    if (known) return;
    known = true;
    driver.options = (struct driver_options){
        .threads = number_from(SIM_ENV_THREADS, 2),
        .checks = number_from(SIM_ENV_CHECKS, SIM_CHECK_ALL),
        .limit = number_from(SIM_ENV_LIMIT, 0),
        .act_out = number_from(SIM_ENV_ACT_OUT, 0),
        .act_chance = number_from(SIM_ENV_ACT_CHANCE, 0),
        .act_seed = number_from(SIM_ENV_ACT_SEED, 0),
        .timing = number_from(SIM_ENV_TIMING, 0),
        .timing_only = number_from(SIM_ENV_TIMING_ONLY, 0) != 0,
        .timing_mhz = number_from(SIM_ENV_MHZ, 0),
        .stats = number_from(SIM_ENV_STATS, 0) == 1,
        .launches = text_from(SIM_ENV_LAUNCHES),
        .plant = text_from(SIM_ENV_PLANT),
        .trace = text_from(SIM_ENV_TRACE),
    };
}

static int read_machine(void)
{
    char path[4096], error[SIM_ERROR_MAX];
    static char text[1 << 16];
    snprintf(path, sizeof path, "%s/machine.card", driver_root());
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return errno;
    size_t used = 0;
    ssize_t n = 0;
    while (used < sizeof text - 1 && (n = read(fd, text + used, sizeof text - 1 - used)) > 0)
        used += (size_t)n;
    close(fd);
    text[used] = 0;
    if (n >= 0 && sim_machine_parse(text, NULL, &driver.machine, error)) return 0;
    driver_log("%s: %s", path, n < 0 ? "cannot be read" : error);
    return EINVAL;
}

static int open_file(const char *name, long long bytes, unsigned number, int *out)
{
    struct stat status;
    const int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd < 0) return errno;
    if (ftruncate(fd, bytes) || fstat(fd, &status)) {
        const int error = errno;
        close(fd);
        return error;
    }
    driver.files[number].device = status.st_dev;
    driver.files[number].inode = status.st_ino;
    *out = fd;
    return 0;
}

static int open_card(unsigned index)
{
    struct gpu *gpu = &driver.gpus[index];
    memset(gpu, 0, sizeof *gpu);
    gpu->card = &driver.machine.cards[index];
    gpu->index = index;
    gpu->id = sim_card_gpu_id(index);
    gpu->file_end = 1 << 21;
    const int error = open_file("simulated card", MEMORY_FILE_BYTES, index + 1, &gpu->fd);
    if (error) return error;
    gpu->doorbells = mmap(NULL, DOORBELL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, driver.kfd_fd,
                          (off_t)driver_kfd_offset(index));
    return gpu->doorbells == MAP_FAILED ? errno : 0;
}

/* A child has neither our threads nor a card of its own; it starts again when it opens one. */
static void forget(void)
{
    if (started) {
        close(driver.kfd_fd);
        for (unsigned i = 0; i < driver.machine.n; i++) close(driver.gpus[i].fd);
    }
    started = false;
    driver.kfd_fd = -1;
    pthread_mutex_init(&driver.lock, NULL);
    queue_forget();
    events_forget();
    host_wait_forget();
    vm_forget();
    summary_forget();
    clock_forget();
    kernel_name_forget();
}

int driver_start(void)
{
    static bool hooked;
    int error = 0;
    pthread_mutex_lock(&driver.lock);
    if (!started) {
        read_options();
        error = read_machine();
        if (!error) error = open_file("simulated kfd", KFD_FILE_BYTES, 0, &driver.kfd_fd);
        for (unsigned i = 0; i < driver.machine.n && !error; i++) error = open_card(i);
        if (!error && !hooked) error = pthread_atfork(NULL, NULL, forget);
        hooked = hooked || !error;
        started = !error;
        if (started) summary_process();
    }
    pthread_mutex_unlock(&driver.lock);
    return error;
}

struct gpu *driver_gpu(uint32_t gpu_id)
{
    for (unsigned i = 0; started && i < driver.machine.n; i++)
        if (driver.gpus[i].id == gpu_id) return &driver.gpus[i];
    return NULL;
}
