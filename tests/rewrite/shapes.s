// shapes.s: how hand-written and generated code uses the program counter, each in a kernel that stores 1 to the
// words of its result, in order, when it went the right way; and what must be refused.
.amdgcn_target "amdgcn-amd-amdhsa--gfx1030"

.macro KERNEL name
    .text
    .globl \name
    .p2align 8
    .type \name,@function
\name:
    s_load_dwordx2 s[0:1], s[4:5], 0x0
    v_mov_b32_e32 v0, 0
    s_waitcnt lgkmcnt(0)
.endm

// Stores 1 to word \index.
.macro MARK index
    v_mov_b32_e32 v1, 1
    global_store_dword v0, v1, s[0:1] offset:4*\index
.endm

.macro END name
    s_endpgm
.L\name\()_end:
    .size \name, .L\name\()_end-\name
    .rodata
    .p2align 6
    .amdhsa_kernel \name
        .amdhsa_user_sgpr_private_segment_buffer 1
        .amdhsa_user_sgpr_kernarg_segment_ptr 1
        .amdhsa_kernarg_size 8
        .amdhsa_next_free_vgpr 8
        .amdhsa_next_free_sgpr 48
        .amdhsa_wavefront_size32 1
    .end_amdhsa_kernel
.endm

// Tensile's long branch forwards: the upper half is an inline 0.
KERNEL forwards
    s_getpc_b64 s[34:35]
.Lf0:
    s_add_i32 s36, .Lforwards-.Lf0-4, 4
    s_add_u32 s34, s34, s36
    s_addc_u32 s35, s35, 0
    s_setpc_b64 s[34:35]
    MARK 3
    s_endpgm
.Lforwards:
    MARK 0
END forwards

// Tensile's long branch backwards: the distance without its sign, subtracted.
KERNEL backwards
    s_branch .Lb1
.Lback:
    MARK 0
    s_endpgm
.Lb1:
    s_getpc_b64 s[34:35]
.Lb0:
    s_add_i32 s36, .Lback-.Lb0-4, 4
    s_abs_i32 s36, s36
    s_sub_u32 s34, s34, s36
    s_subb_u32 s35, s35, 0
    s_setpc_b64 s[34:35]
    MARK 3
END backwards

// Both, the sign being asked for at run time: only one way is ever taken.
KERNEL either
    s_getpc_b64 s[34:35]
.Le0:
    s_add_i32 s36, .Leither-.Le0-4, 4
    s_cmp_ge_i32 s36, 0
    s_cbranch_scc1 .Le1
    s_abs_i32 s36, s36
    s_sub_u32 s34, s34, s36
    s_subb_u32 s35, s35, 0
    s_setpc_b64 s[34:35]
.Le1:
    s_add_u32 s34, s34, s36
    s_addc_u32 s35, s35, 0
    s_setpc_b64 s[34:35]
    MARK 3
    s_endpgm
.Leither:
    MARK 0
END either

// As in sp3's Winograd: computed early, used behind branches and a loop.
KERNEL later
    s_mov_b32 s20, 3
    s_getpc_b64 s[34:35]
.Ll0:
    s_add_u32 s34, s34, .Llater-.Ll0
    s_addc_u32 s35, s35, 0
.Ll1:
    s_sub_u32 s20, s20, 1
    s_cmp_eq_u32 s20, 0
    s_cbranch_scc0 .Ll1
    s_cbranch_execz .Ll2
    s_mov_b64 s[38:39], s[34:35]
    s_setpc_b64 s[38:39]
.Ll2:
    MARK 3
    s_endpgm
.Llater:
    MARK 0
END later

// A distance that is an inline constant, so that the instruction has to grow.
KERNEL short
    s_getpc_b64 s[34:35]
    s_add_u32 s34, s34, 24
    s_addc_u32 s35, s35, 0
    s_setpc_b64 s[34:35]
    v_mov_b32_e32 v1, 1
    global_store_dword v0, v1, s[0:1] offset:12
    MARK 0
END short

// A subroutine that is called from two places and comes back to each.
KERNEL subroutine
    s_mov_b32 s20, 5
    s_call_b64 s[36:37], .Lsub
    s_add_u32 s20, s20, 100
    s_call_b64 s[36:37], .Lsub
    s_cmp_eq_u32 s20, 107
    s_cbranch_scc0 .Lnot
    MARK 0
.Lnot:
    s_endpgm
.Lsub:
    s_add_u32 s20, s20, 1
    s_setpc_b64 s[36:37]
END subroutine

// Two targets in one pair of registers.
KERNEL choice
    s_getpc_b64 s[30:31]
.Lc0:
    s_add_u32 s30, s30, .Lchoice0-.Lc0
    s_addc_u32 s31, s31, 0
    s_getpc_b64 s[32:33]
.Lc1:
    s_add_u32 s32, s32, .Lchoice1-.Lc1
    s_addc_u32 s33, s33, 0
    s_cmp_eq_u32 s0, 0
    s_cselect_b64 s[34:35], s[30:31], s[32:33]
    s_setpc_b64 s[34:35]
    MARK 3
    s_endpgm
.Lchoice0:
    MARK 2
    s_endpgm
.Lchoice1:
    MARK 0
END choice

// A table of words behind the code, in .text, and one in .rodata.
KERNEL table
    s_getpc_b64 s[30:31]
.Lt0:
    s_add_u32 s30, s30, words-.Lt0
    s_addc_u32 s31, s31, 0
    s_load_dwordx2 s[40:41], s[30:31], 0x0
    s_getpc_b64 s[32:33]
    s_add_u32 s32, s32, outside@rel32@lo+4
    s_addc_u32 s33, s33, outside@rel32@hi+12
    s_load_dword s42, s[32:33], 0x4
    s_waitcnt lgkmcnt(0)
    s_sub_u32 s40, s40, 0xbf82ffff
    s_sub_u32 s41, s41, 0xffffffff
    s_sub_u32 s42, s42, 0x12345678
    s_or_b32 s40, s40, s41
    s_or_b32 s40, s40, s42
    s_cmp_eq_u32 s40, 0
    s_cbranch_scc0 .Ltno
    MARK 0
.Ltno:
END table
    .text
    .p2align 2
words: // the first looks like a branch, the second like nothing
    .long 0xbf82ffff, 0xffffffff
    .rodata
outside:
    .long 0, 0x12345678

// A clause, for those who insert into one.
KERNEL clause
    s_clause 0x1
    global_load_dword v2, v0, s[0:1] offset:16
    global_load_dword v3, v0, s[0:1] offset:20
    s_waitcnt vmcnt(0)
    v_or_b32_e32 v2, v2, v3
    v_cmp_eq_u32_e32 vcc_lo, 0, v2
    s_cbranch_vccz .Lcl
    MARK 0
.Lcl:
END clause

// A function that calls another, and at its end jumps to it by the same registers: it knows that they are kept.
.macro FUNCTION name
    .text
    .p2align 8
    .type \name,@function
\name:
.endm
.macro RETURN name
    s_setpc_b64 s[30:31]
.L\name\()_end:
    .size \name, .L\name\()_end-\name
.endm
.macro TWICE name leaf to keep
FUNCTION \name
    s_getpc_b64 s[\to:\to+1]
    s_add_u32 s\to, s\to, \leaf@rel32@lo+4
    s_addc_u32 s[\to+1], s[\to+1], \leaf@rel32@hi+12
    s_mov_b64 s[\keep:\keep+1], s[30:31]
    s_swappc_b64 s[30:31], s[\to:\to+1]
    s_mov_b64 s[30:31], s[\keep:\keep+1]
    s_setpc_b64 s[\to:\to+1]
.L\name\()_end:
    .size \name, .L\name\()_end-\name
.endm
// Called before anything is known of them.
KERNEL fourfold
    s_mov_b32 s20, 5
    s_getpc_b64 s[34:35]
    s_add_u32 s34, s34, two_more@rel32@lo+4
    s_addc_u32 s35, s35, two_more@rel32@hi+12
    s_swappc_b64 s[30:31], s[34:35]
    s_getpc_b64 s[34:35]
    s_add_u32 s34, s34, four_more@rel32@lo+4
    s_addc_u32 s35, s35, four_more@rel32@hi+12
    s_swappc_b64 s[30:31], s[34:35]
    s_cmp_eq_u32 s20, 11
    s_cbranch_scc0 .Lfourfold
    MARK 0
.Lfourfold:
END fourfold
FUNCTION one_more
    s_add_u32 s20, s20, 1
RETURN one_more
TWICE two_more one_more 16 40
TWICE four_more two_more 18 42
KERNEL twice
    s_mov_b32 s20, 5
    s_getpc_b64 s[34:35]
    s_add_u32 s34, s34, two_more@rel32@lo+4
    s_addc_u32 s35, s35, two_more@rel32@hi+12
    s_swappc_b64 s[30:31], s[34:35]
    s_cmp_eq_u32 s20, 7
    s_cbranch_scc0 .Ltwice
    MARK 0
.Ltwice:
END twice

// ---- refused; with -defsym REFUSED=1 ----
.ifdef REFUSED

KERNEL no_loaded
    s_load_dwordx2 s[34:35], s[0:1], 0x0
    s_waitcnt lgkmcnt(0)
    s_setpc_b64 s[34:35]
END no_loaded

KERNEL no_pc
    s_getpc_b64 s[34:35]
    v_mov_b32_e32 v1, s34
    global_store_dword v0, v1, s[0:1]
END no_pc

KERNEL no_half
    s_getpc_b64 s[34:35]
.Lh0:
    s_add_u32 s34, s34, .Lh1-.Lh0
    v_mov_b32_e32 v1, s34
    s_addc_u32 s35, s35, 0
    global_store_dword v0, v1, s[0:1]
.Lh1:
END no_half

KERNEL no_shared
    s_getpc_b64 s[34:35]
.Ln0:
    s_mov_b32 s36, .Lnshared-.Ln0
    s_add_u32 s34, s34, s36
    s_addc_u32 s35, s35, 0
    v_mov_b32_e32 v1, s36
    s_setpc_b64 s[34:35]
    s_nop 0
.Lnshared:
    global_store_dword v0, v1, s[0:1]
END no_shared

// The constant of a sum is read only after it met another value.
KERNEL no_shared_later
    s_getpc_b64 s[34:35]
.Lm0:
    s_mov_b32 s36, .Lmshared-.Lm0
    s_add_u32 s34, s34, s36
    s_addc_u32 s35, s35, 0
    s_cbranch_execz .Lm1
    s_load_dword s36, s[0:1], 0x0
.Lm1:
    v_mov_b32_e32 v1, s36
    s_setpc_b64 s[34:35]
    s_nop 0
.Lmshared:
    global_store_dword v0, v1, s[0:1]
END no_shared_later

// Arithmetic on a return address that is not ours.
KERNEL no_sum
    s_load_dword s20, s[0:1], 0x0
    s_waitcnt lgkmcnt(0)
    s_getpc_b64 s[34:35]
    s_add_u32 s34, s34, s20
    s_addc_u32 s35, s35, 0
    s_setpc_b64 s[34:35]
END no_sum

KERNEL no_middle
    s_getpc_b64 s[34:35]
.Lq0:
    s_add_u32 s34, s34, .Lq1-.Lq0
    s_addc_u32 s35, s35, 0
    v_mov_b32_e32 v1, s34
    v_mov_b32_e32 v2, s35
.Lq1:
    global_store_dwordx2 v0, v[1:2], s[0:1]
END no_middle

KERNEL no_word
    .long 0xffffffff
END no_word

KERNEL no_inside
    s_branch 1
    v_mov_b32_e32 v1, 0x12345678
END no_inside

// As `twice`, but what is called writes the register.
FUNCTION one_more_17
    s_add_u32 s17, s17, 0
RETURN one_more_17
TWICE two_more_17 one_more_17 16 40
KERNEL no_kept
    s_getpc_b64 s[34:35]
    s_add_u32 s34, s34, two_more_17@rel32@lo+4
    s_addc_u32 s35, s35, two_more_17@rel32@hi+12
    s_swappc_b64 s[30:31], s[34:35]
END no_kept

// As `fourfold`, but the function that the called one calls writes the register.
FUNCTION one_more_19
    s_add_u32 s19, s19, 0
RETURN one_more_19
TWICE two_more_19 one_more_19 16 40
TWICE four_more_19 two_more_19 18 42
KERNEL no_kept_deep
    s_getpc_b64 s[34:35]
    s_add_u32 s34, s34, four_more_19@rel32@lo+4
    s_addc_u32 s35, s35, four_more_19@rel32@hi+12
    s_swappc_b64 s[30:31], s[34:35]
END no_kept_deep

.endif
