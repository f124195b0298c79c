# prepare.sh: to be sourced after lib.sh and debian.sh: a chroot of sid with ROCm and Debian's PyTorch for the CPU, and
# PyTorch's sources in it, made ready for HIP. Each step leaves a mark in $folder/done and is not done again.
# shellcheck shell=bash disable=SC2154 # $state, $here are of the script that sources this

packages="g++ ninja-build hipcc clang-21 lld-21 libamdhip64-dev librocprim-dev libhipcub-dev librocthrust-dev
    librocrand-dev libhiprand-dev libmiopen-dev rocminfo libroctx-dev nlohmann-json3-dev libfmt-dev python3-yaml
    python3-pil libcjson1 libgomp1 libzstd1 zlib1g libdw1t64 libelf1t64 libsqlite3-0 libbz2-1.0"
# Their headers only (and libhipblas): with all that they need they are 4 GB.
headers_only="librocblas-dev libhipblas-dev libhipblas2 libhipblas-common-dev libhipblaslt-dev libhipsparse-dev
    librocsparse-dev libhipfft-dev libhipsolver-dev librocsolver-dev librccl-dev librocm-smi-dev"
# Models of strangers.py, unpacked without what they could use beside PyTorch.
transformers="python3-transformers python3-huggingface-hub python3-tokenizers python3-safetensors python3-regex
    python3-tqdm python3-packaging python3-filelock python3-httpx python3-httpcore python3-h11 python3-anyio
    python3-idna python3-certifi python3-fsspec python3-typer python3-click python3-requests python3-urllib3
    python3-chardet python3-rich python3-shellingham python3-markdown-it python3-mdurl python3-pygments python3-six
    libonig5"
# Versions to try, newest first: what sid lists, then one that was built before.
known_version=2.12.1+dfsg-2

inside() { chroot "$root" env -C /torch HOME=/torch/home "$@"; }

# step NAME: true when that step is still to be done.
step() {
    [ ! -e "$folder/done/$1" ] || return 1
    say "torch_rocm: $1 …" >&2
}
finished() { touch "$folder/done/$1"; }

# fetch ADDRESS FILE: from the mirror, once.
fetch() { [ -s "$2" ] || { curl -fsSo "$2.part" "$1" && mv "$2.part" "$2"; }; }

# prepare_version: the newest version whose source and packages the mirror really has.
prepare_version() {
    [ ! -s "$folder/version" ] || { version=$(cat "$folder/version") && return 0; }
    listed=$(chroot "$root" apt-cache policy python3-torch | sed -n 's/^ *Candidate: *//p')
    for version in ${wanted:-$listed $known_version}; do
        upstream=${version%-*}
        library=libtorch$(echo "$version" | cut -d. -f1,2)
        for name in "pytorch_${upstream//+/%2b}.orig.tar.xz" "${library}_${version//+/%2b}_amd64.deb" \
            "python3-torch_${version//+/%2b}_amd64.deb"; do
            curl -fsIo /dev/null "$pool/$name" || continue 2
        done
        echo "$version" >"$folder/version"
        return 0
    done
    skip "the mirror has no PyTorch with its source: tried ${wanted:-$listed $known_version}"
}

# prepare: all of it.
prepare() {
    need debootstrap curl
    mirror=$(debian_mirror)
    [ -n "$mirror" ] || skip "apt has no Debian mirror"
    pool=${mirror%/}/pool/main/p/pytorch
    # Word splitting is wanted: a list of packages.
    # shellcheck disable=SC2086
    root=$(XDG_CACHE_HOME=$state sh "$here/../support/chroot.sh" sid $packages) || { say "$root" && exit 77; }
    folder=$root/torch
    mkdir -p "$folder"/{done,debs,host,home,link,gfx1010,gfx1030,results}
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe"
    prepare_version
    upstream=${version%-*}
    prepare_packages
    prepare_source
    for file in prefix.h kernel_prefix.h support.cpp link.py timed.sh; do
        # An unchanged file keeps its time, and ninja what was made of it.
        cmp -s "$here/$file" "$folder/$file" || cp "$here/$file" "$folder/"
    done
    [ -s "$folder/gen/RegisterFew.cpp" ] || "$python" "$here/register.py" "$folder/gen/ATen/RegisterCUDA_0.cpp" \
        "$here/operators.txt" "$folder/gen/RegisterFew.cpp" >&2
    "$python" "$here/headers.py" "$folder" "${upstream%+*}" "$here/few_types.h"
}

prepare_packages() {
    if step packages; then
        library=libtorch$(echo "$version" | cut -d. -f1,2)
        for name in "$library" libtorch-dev python3-torch libtorch-test; do
            fetch "$pool/${name}_${version//+/%2b}_amd64.deb" "$folder/debs/$name.deb" || skip "no $name $version"
        done
        inside sh -ec 'DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends ./debs/*.deb' \
            >"$folder/packages.log" 2>&1 ||
            { tail -n 5 "$folder/packages.log" >&2; skip "cannot install PyTorch $version"; }
        finished packages
    fi
    if step headers; then
        # shellcheck disable=SC2016 # of the shell inside
        # torchvision's package asks for another PyTorch; its models are Python.
        # shellcheck disable=SC2086
        inside sh -ec 'mkdir -p more && cd more && apt-get download "$@" &&
            for deb in *.deb; do dpkg -x "$deb" /; done' \
            sh $headers_only python3-torchvision >"$folder/headers.log" 2>&1 ||
            { tail -n 5 "$folder/headers.log" >&2; skip "cannot unpack $headers_only"; }
        finished headers
    fi
    if step transformers; then
        # shellcheck disable=SC2016,SC2086
        inside sh -ec 'mkdir -p programs && cd programs && apt-get download "$@" &&
            for deb in *.deb; do dpkg -x "$deb" /; done' \
            sh $transformers >"$folder/transformers.log" 2>&1 ||
            { tail -n 5 "$folder/transformers.log" >&2; skip "cannot unpack $transformers"; }
        finished transformers
    fi
}

prepare_source() {
    if step source; then
        fetch "$pool/pytorch_${upstream//+/%2b}.orig.tar.xz" "$folder/pytorch.tar.xz" || skip "no source of $version"
        mkdir -p "$folder/src" "$folder/gen"
        tar xf "$folder/pytorch.tar.xz" -C "$folder/src" --strip-components=1
        finished source
    fi
    if step hipify; then
        inside sh -ec 'cd src && python3 tools/amd_build/build_amd.py' >"$folder/hipify.log" 2>&1 || die "hipify failed"
        finished hipify
    fi
    if step register; then
        # It ends with a complaint about a header of ahead-of-time compilation, when all else is written.
        inside sh -c 'cd src && python3 -m torchgen.gen --source-path aten/src/ATen --install_dir ../gen/ATen \
            --aoti-install-dir ../gen/aoti --headeronly-install-dir ../gen/headeronly --per-operator-headers --rocm \
            --backend-whitelist CPU CUDA SparseCUDA SparseCsrCUDA QuantizedCUDA NestedTensorCUDA Meta \
            CompositeImplicitAutograd CompositeExplicitAutograd CompositeExplicitAutogradNonFunctional \
            CompositeImplicitAutogradNestedTensor --generate sources headers' >"$folder/register.log" 2>&1 ||
            [ -s "$folder/gen/ATen/RegisterCUDA_0.cpp" ] || die "torchgen failed: $(tail -n 1 "$folder/register.log")"
        cp "$folder/gen/ATen/UfuncCUDA_add.cu" "$folder/gen/UfuncCUDA_add.hip"
        finished register
    fi
}
