/* layout_main.c: a toy program for check_layouts.sh: loads libraries as asked, calls torch_run, and
 * lists which files of interest the process has. usage: layout_main [global:FILE | local:FILE]…
 * With NEEDS_TORCH it is linked with the toy libtorch_hip and loads nothing more. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void list(void)
{
    char line[4096], last[4096] = "";
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        const char *path = strchr(line, '/');
        if (!path || !strcmp(path, last)) continue;
        if (!strstr(path, "MIOpen") && !strstr(path, "librmcp")) continue;
        snprintf(last, sizeof last, "%s", path);
        printf("has %s", path);
    }
    if (maps) fclose(maps);
}

#ifdef NEEDS_TORCH
int torch_run(void);
#endif

int main(int argc, char **argv)
{
    int (*run)(void) = NULL;
    void *last = NULL;
    for (int i = 1; i < argc; i++) {
        const char *file = strchr(argv[i], ':');
        if (!file) return 2;
        const int how = !strncmp(argv[i], "global:", 7) ? RTLD_GLOBAL : RTLD_LOCAL;
        last = dlopen(file + 1, RTLD_LAZY | how);
        if (last) continue;
        printf("%s\n", dlerror());
        return 3;
    }
    printf("before:\n");
    list();
#ifdef NEEDS_TORCH
    run = torch_run;
#else
    void *address = last ? dlsym(last, "torch_run") : NULL;
    memcpy(&run, &address, sizeof address);
#endif
    if (run) run();
    printf("after:\n");
    list();
    fflush(stdout);
    return 0;
}
