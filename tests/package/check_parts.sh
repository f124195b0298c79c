#!/bin/sh
# A build of the engine alone: librmcp and rmcp.h, and a program that uses them; nothing else is built or installed.
# usage: check_parts.sh SOURCE-ROOT
. "$(dirname "$0")/../support/lib.sh"
source=$(cd "$1" && pwd)
need meson
need ninja

expect 0 meson setup "$work/build" "$source" -Dparts=engine -Dkernel_targets= -Dbuildtype=plain \
    -Dwerror=false --prefix=/usr
expect 0 ninja -C "$work/build"
expect 0 env DESTDIR="$work/root" meson install -C "$work/build" --no-rebuild
(cd "$work/root" && find . -type f | sed 's|.*/||' | sort) >"$work/installed"
for name in $(cat "$work/installed"); do
    case $name in
    librmcp.so.*.*.* | rmcp.h | rmcp.pc) ;;
    *) fail "a build of the engine alone installs $name" ;;
    esac
done
[ "$(wc -l <"$work/installed")" = 3 ] || fail "not all of the engine is installed: $(tr '\n' ' ' <"$work/installed")"

library=$(dirname "$(find "$work/root" -name librmcp.so)")
cat >"$work/use.c" <<'C'
#include <rmcp.h>
#include <stdio.h>
int main(void)
{
    rmcp_device *device = NULL;
    rmcp_plan *plan = NULL;
    if (rmcp_device_open("cpu", NULL, &device) || rmcp_case_plan(device, "softmax:8x10:fwd", NULL, &plan)) {
        fprintf(stderr, "%s\n", rmcp_last_error());
        return 1;
    }
    printf("%s planned softmax: %s\n", rmcp_version(), rmcp_plan_algorithm(plan));
    rmcp_plan_destroy(plan);
    rmcp_device_close(device);
    return 0;
}
C
expect 0 "${CC:-cc}" -I "$work/root/usr/include" "$work/use.c" -o "$work/use" -L "$library" -lrmcp "-Wl,-rpath,$library"
expect 0 "$work/use"
has "planned softmax"
finish
