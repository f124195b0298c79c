/* two_devices.c: opens devices one after the other in one process and prints what each said, for
 * drivers that do not get on. usage: two_devices SPEC… */
#include <rmcp.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    enum { MOST = 8 };
    rmcp_device *devices[MOST] = { NULL };
    for (int i = 1; i < argc && i < MOST; i++) {
        const rmcp_status status = rmcp_device_open(argv[i], NULL, &devices[i]);
        printf("%s: %s%s%s\n", argv[i], rmcp_status_name(status), status ? ": " : "",
               status ? rmcp_last_error() : "");
    }
    for (int i = 1; i < argc && i < MOST; i++) rmcp_device_close(devices[i]);
    return 0;
}
