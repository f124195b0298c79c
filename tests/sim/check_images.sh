#!/bin/sh
# Images on the executor, where descriptors, coordinates or waits are wrong: check_images.sh RMCP
set -eu
. "$(dirname "$0")/asm.sh"
block=32 grid=32 bytes=8192

# image TYPE FORMAT [WIDTH HEIGHT DEPTH MODE]: a descriptor in s[8:15] of the buffer, and a plain sampler in
# s[16:19]; the buffer of the direct runner is aligned to 256 bytes and more.
image() {
    width=$((${3:-32} - 1)) height=$((${4:-4} - 1)) depth=$((${5:-1} - 1)) mode=${6:-0}
    cat <<END
    s_lshr_b64 s[8:9], s[4:5], 8
    s_or_b32 s9, s9, $(printf '0x%x' $(($2 << 20 | (width & 3) << 30)))
    s_mov_b32 s10, $(printf '0x%x' $((width >> 2 | height << 14 | 1 << 31)))
    s_mov_b32 s11, $(printf '0x%x' $(($1 << 28 | mode << 20 | 0xfac)))
    s_mov_b32 s12, $depth
    s_mov_b32 s13, 0
    s_mov_b32 s14, 0
    s_mov_b32 s15, 0
    s_mov_b32 s16, 0x92
    s_mov_b32 s17, 0xfff000
    s_mov_b32 s18, 0x500000
    s_mov_b32 s19, 0
    v_mov_b32 v2, v0
    v_mov_b32 v3, 1
    v_mov_b32 v4, 0
    v_mov_b32 v6, 1.0
    v_mov_b32 v7, 1.0
    v_mov_b32 v8, 1.0
    v_mov_b32 v9, 1.0
END
}
# trial NAME BODY: behind the descriptor that `image` has printed to $work/setup
trial() { { cat setup; printf '%s\n' "$2"; } | assemble "$1"; }
two='s[8:15] dmask:0xf dim:SQ_RSRC_IMG_2D unorm'
sampled='s[8:15], s[16:19] dmask:0xf dim:SQ_RSRC_IMG_2D'

image 9 56 >setup
trial fine "image_store v[6:9], v[2:3], $two
    s_waitcnt_vscnt null, 0x0
    image_load v[10:13], v[2:3], $two
    image_sample_lz v[6:9], v[2:3], $sampled
    s_waitcnt vmcnt(0)
    global_store_dword v1, v10, s[4:5]"
shows fine clean --

# What was stored is read and sampled again, in both sizes of waves, tiled and not.
for wave in 32 64; do
    block=$wave grid=$wave mask=$([ $wave = 32 ] && echo 'vcc_lo' || echo 'vcc')
    for mode in 0 2 27; do
        image 9 22 $wave 4 1 $mode >setup
        bytes=65536
        trial same "v_cvt_f32_u32 v6, v0
    image_store v6, v[2:3], s[8:15] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm
    s_waitcnt_vscnt null, 0x0
    image_load v10, v[2:3], s[8:15] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm
    s_or_b32 s16, s16, 0x8000
    v_add_f32 v4, 0.5, v6
    v_mov_b32 v5, 1.5
    image_sample_lz v11, v[4:5], s[8:15], s[16:19] dmask:0x1 dim:SQ_RSRC_IMG_2D
    s_waitcnt vmcnt(0)
    v_add_f32 v10, v10, v11
    v_add_f32 v6, v6, v6
    v_cmp_eq_f32 $mask, v6, v10
    s_cbranch_vccz 1f
    s_not_b$wave $mask, $mask
    s_cbranch_vccz 2f
1:  s_trap 2
2:"
        shows same clean --
    done
done
wave=32 block=32 grid=32 bytes=8192
image 9 56 >setup

echo "== waits"
trial early "image_load v[10:13], v[2:3], $two
    global_store_dword v1, v12, s[4:5]"
shows early '^waitcnt: v12 is read before the load' --
trial early_sample "image_sample_lz v[10:13], v[2:3], $sampled
    v_mov_b32 v5, v10"
shows early_sample '^waitcnt: v10 is read before the load' --
trial early_atomic "image_atomic_add v6, v[2:3], s[8:15] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm glc
    v_mov_b32 v5, v6"
shows early_atomic '^waitcnt: v6 is read before the load' --
trial late_store "image_store v[6:9], v[2:3], $two
    s_barrier
    v_xor_b32 v2, 31, v2
    image_load v[10:13], v[2:3], $two"
shows late_store clean -- # one wave is in order with itself
# Loads and samples come back by two ways: one of them does not wait for the other.
trial two_ways "image_load v[10:13], v[2:3], $two
    image_sample_lz v[10:13], v[2:3], $sampled"
shows two_ways '^waitcnt: v10 is written before the load' --
trial one_way "image_sample_lz v[10:13], v[2:3], $sampled
    image_sample_lz v[10:13], v[2:3], $sampled"
shows one_way clean --
block=64 grid=64
trial crossed "image_store v[6:9], v[2:3], $two
    s_barrier
    v_xor_b32 v2, 32, v2
    v_and_b32 v2, 31, v2
    image_load v[10:13], v[2:3], $two"
shows crossed '^waitcnt: .*store' --
block=32 grid=32

echo "== values that nothing wrote"
trial unwritten_place "image_load v[10:13], [v2, v5], $two"
shows unwritten_place '^undefined-register: v5 was never written and reaches an address' --
trial unwritten_data "image_store v[12:15], v[2:3], $two"
shows unwritten_data '^undefined-register: v1[2-5] was never written and reaches memory' --
trial unwritten_sampler "image_sample_lz v[10:13], v[2:3], s[8:15], s[20:23] dmask:0xf dim:SQ_RSRC_IMG_2D"
shows unwritten_sampler '^undefined-register: s20 was never written and reaches an address' --
image 9 22 >setup # one component: the others may be anything
trial unwritten_rest "image_store v[12:15], v[2:3], $two"
shows unwritten_rest '^undefined-register: v12 was never written' ', 1 reports' --
trial unused_rest "v_mov_b32 v12, 1.0
    image_store v[12:15], v[2:3], $two"
shows unused_rest clean --

echo "== outside"
image 9 56 32 4 >setup
trial outside "v_mov_b32 v3, 4
    image_store v[6:9], v[2:3], $two
    image_load v[10:13], v[2:3], $two
    v_mov_b32 v3, -1
    image_store v[6:9], v[2:3], $two
    s_waitcnt vmcnt(0)
    v_or_b32 v10, v10, v13
    v_cmp_eq_u32 vcc_lo, 0, v10
    s_cmp_eq_u32 vcc_lo, -1
    s_cbranch_scc1 1f
    s_trap 2
1:"
shows outside clean --
image 9 56 32 100 >setup # more lines than there is memory
trial beyond "v_mov_b32 v3, 99
    image_load v[10:13], v[2:3], $two"
shows beyond '^memory-fault: load of 4 bytes at ' --
trial beyond_store "v_mov_b32 v3, 99
    image_store v[6:9], v[2:3], $two"
shows beyond_store '^memory-fault: store of 4 bytes at ' --
trial beyond_sample "v_mov_b32 v3, 1.0
    image_sample_lz v[10:13], v[2:3], $sampled"
shows beyond_sample '^memory-fault: sample of 4 bytes at ' --
image 13 56 16384 16384 8192 27 >setup # the largest there is, in blocks, far outside of memory
trial huge "v_mov_b32 v2, 0x3fff
    v_mov_b32 v3, 0x3fff
    v_mov_b32 v4, 0x1fff
    image_load v[10:13], v[2:4], s[8:15] dmask:0xf dim:SQ_RSRC_IMG_2D_ARRAY unorm"
shows huge '^memory-fault: load of 4 bytes at ' --

echo "== descriptors"
zero='s_mov_b64 s[8:9], 0
    s_mov_b64 s[10:11], 0
    s_mov_b64 s[12:13], 0'
image 9 56 >setup
trial null "$zero
    image_store v[6:9], v[2:3], $two
    image_sample_lz v[10:13], v[2:3], $sampled
    s_waitcnt vmcnt(0)
    v_or_b32 v10, v10, v13
    v_cmp_eq_u32 vcc_lo, 0, v10
    s_cmp_eq_u32 vcc_lo, -1
    s_cbranch_scc1 1f
    s_trap 2
1:"
shows null clean --
for type in 0 3 7; do
    image $type 56 >setup
    trial buffer$type "image_load v[10:13], v[2:3], $two
    s_waitcnt vmcnt(0)
    v_cmp_eq_u32 vcc_lo, 0, v13
    s_cmp_eq_u32 vcc_lo, -1
    s_cbranch_scc1 1f
    s_trap 2
1:"
    shows buffer$type "^descriptor: the descriptor in s\[8:15\] is of type $type, no image" ', 1 reports' --
done
image 9 56 >setup
trial atomic_width "image_atomic_add v[6:7], v[2:3], s[8:15] dmask:0x3 dim:SQ_RSRC_IMG_2D unorm"
shows atomic_width '^descriptor: an atomic of 8 bytes on texels of 4' --
for what in '14 56 image.*samples' '9 170 format' '9 74 layout' '9 78 format'; do
    # shellcheck disable=SC2086
    set -- $what
    image "$1" "$2" >setup
    trial "odd$1.$2" "image_load v[10:13], v[2:3], $two"
    shows "odd$1.$2" "^illegal-instruction: .*$3.*not modelled" --
done
image 9 56 32 4 1 3 >setup
trial odd_mode "image_load v[10:13], v[2:3], $two"
shows odd_mode '^illegal-instruction: .*layout.*not modelled' --
finish "images"
