#!/bin/sh
#: title A container (Podman or Docker) with PyTorch for the chip and RMCP, devices and groups given rightly
# A Containerfile, the image made of it, and a command "run" that starts programs in it with the card: /dev/kfd and
# /dev/dri, and the groups that these belong to on THIS machine, by number (the names inside are others). The system
# stays as it is. A container has no more code for the chip than what is installed in it: this one installs AMD's
# nightly wheel for it, not the official image rocm/pytorch, which has none for RDNA1.
#
# Tried:     the Containerfile built with Buildah on a Debian 13 from the archive, with Debian's PyTorch for the CPU in
#            the place of AMD's wheel (their servers were out of reach); in the image rmcp check, and RMCP itself on the
#            simulated RX 5600 XT.
# Not tried: AMD's wheels, Docker's own daemon, and any real card.
#: if guess
# No AMD GPU was found when this was made: it is for gfx1010 (RX 5600, 5700). rmcp recipe --chip makes another.
#: end
#: if container
# This was made inside of a container (@container@): run it on its host.
#: end
# shellcheck disable=SC2034 # the steps are run at the end
set -eu

recipe=@recipe@           # made by RMCP @version@ on @system@
folder=@folder@
card=@card@               # what rmcp doctor found; empty: nothing
needs_memory=4            # GB
needs_root=''
wheel=@wheel@             # RMCP's wheel; empty: none was found
image=rmcp-torch
#: begin
chip=@target@
override=@override@
visible=@visible@
index=@amd_index@
base=${RECIPE_BASE:-docker.io/library/debian:trixie-slim}
# Where PyTorch comes from: AMD's index, or the base's own package (RECIPE_SYSTEM_TORCH=1), for trying.
torch="torch[device-$chip] torchvision[device-$chip]"
[ -z "${RECIPE_SYSTEM_TORCH-}" ] || torch=''

# The program that makes images here: Podman, Docker or Buildah.
engine() {
    for one in ${RECIPE_ENGINE:-podman docker buildah}; do
        if command -v "$one" >/dev/null; then echo "$one" && return; fi
    done
    echo "no Podman, no Docker: install one of them (apt install podman)" >&2
    return 1
}

#: step files 1 1 Containerfile, RMCP's wheel beside it, and the command run
step_files() {
    engine
    [ -n "$wheel" ] ||
        { echo "RMCP's wheel is missing: rmcp recipe $recipe --wheel FILE --run (docs/install.md)" && return 1; }
    cp "$wheel" "$folder/"
    cat >"$folder/Containerfile" <<END
FROM $base
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-venv python3-pip ca-certificates \\
    libgomp1 libnuma1 libelf1t64 libdrm2 libdrm-amdgpu1 ${torch:+git} $([ -n "$torch" ] || echo python3-torch) \\
    && rm -rf /var/lib/apt/lists/*
RUN python3 -m venv --system-site-packages /opt/torch
ENV PATH=/opt/torch/bin:/usr/local/bin:/usr/bin:/bin
END
    if [ -n "$torch" ]; then
        echo "RUN pip install --no-cache-dir --index-url $index $(for one in $torch; do printf '"%s" ' "$one"; done)"
    fi >>"$folder/Containerfile"
    cat >>"$folder/Containerfile" <<END
COPY $(basename "$wheel") /opt/
RUN pip install --no-cache-dir --no-index --no-deps "/opt/$(basename "$wheel")"
${override:+ENV HSA_OVERRIDE_GFX_VERSION=$override}
${visible:+ENV HIP_VISIBLE_DEVICES=$visible}
WORKDIR /work
CMD ["python", "-m", "rmcp", "check"]
END
    cat >"$folder/run" <<'END'
#!/bin/sh
# Starts a command in the image rmcp-torch with the card: run python -m rmcp train.py
set -eu
set -- rmcp-torch "$@"
for device in /dev/kfd /dev/dri; do
    if [ -e "$device" ]; then set -- --device "$device" "$@"; else echo "run: there is no $device: no GPU" >&2; fi
done
if [ -t 0 ]; then set -- -it "$@"; fi
if command -v podman >/dev/null; then
    # Rootless: your own groups, which may open the devices. SELinux would forbid them.
    exec podman run --rm --group-add keep-groups --security-opt label=disable --shm-size 2g -v "$PWD:/work" "$@"
fi
# The groups of the devices by number: the container's own names for them are others.
for node in /dev/kfd /dev/dri/renderD*; do
    [ ! -e "$node" ] || set -- --group-add "$(stat -c %g "$node")" "$@"
done
exec docker run --rm --shm-size 2g --user "$(id -u):$(id -g)" -e HOME=/tmp -v "$PWD:/work" "$@"
END
    chmod 755 "$folder/run"
}

#: step image 20 14 The image
step_image() {
    cd "$folder"
    # Words of its own where the engine needs them, as --isolation chroot for Buildah where namespaces are forbidden.
    # shellcheck disable=SC2086
    case $(engine) in
    buildah) buildah build ${RECIPE_ENGINE_WORDS-} -t "$image" -f Containerfile . ;;
    podman) podman build ${RECIPE_ENGINE_WORDS-} -t "$image" -f Containerfile . ;;
    docker) docker build ${RECIPE_ENGINE_WORDS-} -t "$image" -f Containerfile . ;;
    esac
}

epilogue() {
    echo "Done. In a folder with a program:"
    echo "    $folder/run                              # rmcp check: is it right?"
    echo "    $folder/run python -m rmcp train.py"
}

#include "steps.sh"
