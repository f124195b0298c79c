// patterns.s: each silicon bug's pattern in a kernel of its name, which stores 7 * lane + 3 to word `lane` of its result
// when nothing goes wrong.
.amdgcn_target "amdgcn-amd-amdhsa--gfx1030"

// s[0:1]: the result; v0: the lane; v1: its byte offset; v2: what is to be stored.
.macro KERNEL name
    .text
    .globl \name
    .p2align 8
    .type \name,@function
\name:
    s_load_dwordx2 s[0:1], s[4:5], 0x0
    v_lshlrev_b32_e32 v1, 2, v0
    v_mul_u32_u24_e32 v2, 7, v0
    v_add_nc_u32_e32 v2, 3, v2
    s_waitcnt lgkmcnt(0)
.endm

.macro END name
    s_endpgm
.L\name\()_end:
    .size \name, .L\name\()_end-\name
    .rodata
    .p2align 6
    .amdhsa_kernel \name
        .amdhsa_group_segment_fixed_size 4096
        .amdhsa_private_segment_fixed_size 64
        .amdhsa_user_sgpr_private_segment_buffer 1
        .amdhsa_user_sgpr_kernarg_segment_ptr 1
        .amdhsa_user_sgpr_flat_scratch_init 1
        .amdhsa_system_sgpr_private_segment_wavefront_offset 1
        .amdhsa_kernarg_size 8
        .amdhsa_next_free_vgpr 32
        .amdhsa_next_free_sgpr 48
        .amdhsa_wavefront_size32 1
    .end_amdhsa_kernel
.endm

// FLAT_SCRATCH from the user registers and the wave's own offset.
.macro SCRATCH
    s_add_u32 s6, s6, s9
    s_addc_u32 s7, s7, 0
    s_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO), s6
    s_setreg_b32 hwreg(HW_REG_FLAT_SCR_HI), s7
.endm

KERNEL vcmpx_exec_war
    s_mov_b32 s20, exec_lo
    v_cmpx_gt_u32_e32 16, v0
    s_mov_b32 exec_lo, s20
    global_store_dword v1, v2, s[0:1]
END vcmpx_exec_war

KERNEL vcmpx_permlane
    s_mov_b32 s20, 0x76543210
    s_mov_b32 s21, 0xfedcba98
    v_cmpx_gt_u32_e32 32, v0
    v_permlane16_b32 v3, v2, s20, s21
    global_store_dword v1, v3, s[0:1]
END vcmpx_permlane

KERNEL vmem_scalar_write
    s_mov_b32 s20, exec_lo
    global_store_dword v1, v2, s[0:1]
    s_mov_b32 exec_lo, 0
    s_nop 0
    s_mov_b32 exec_lo, s20
END vmem_scalar_write

// An address of 0 would be outside of everything.
KERNEL smem_vector_write
    v_mov_b32_e32 v3, 0
    s_load_dword s20, s[4:5], 0x0
    v_readfirstlane_b32 s4, v3
    s_waitcnt lgkmcnt(0)
    s_cmp_eq_u32 s20, s0
    s_cbranch_scc0 .Lsmem
    global_store_dword v1, v2, s[0:1]
.Lsmem:
END smem_vector_write

KERNEL inst_prefetch
    s_inst_prefetch 0x1
    global_store_dword v1, v2, s[0:1]
END inst_prefetch

KERNEL lds_branch_vmem
    ds_write_b32 v1, v2
    s_branch .Lbranch
.Lbranch:
    global_store_dword v1, v2, s[0:1]
    s_waitcnt lgkmcnt(0)
END lds_branch_vmem

KERNEL flat_offset
    v_add_co_u32 v3, vcc_lo, s0, v1
    v_mov_b32_e32 v5, s1
    v_add_co_ci_u32_e32 v4, vcc_lo, 0, v5, vcc_lo
    v_add_co_u32 v3, vcc_lo, 0xfffffff8, v3
    v_add_co_ci_u32_e32 v4, vcc_lo, -1, v4, vcc_lo
    flat_store_dword v[3:4], v2 offset:8
END flat_offset

KERNEL branch_3f
    s_cmp_eq_u32 s0, s0
    s_cbranch_scc1 .Lfar
    .rept 63
    s_nop 0
    .endr
.Lfar:
    global_store_dword v1, v2, s[0:1]
END branch_3f

// 8, 12 and 16 bytes, one of them into the register of its own address; all off by 4.
KERNEL lds_misaligned
    v_lshlrev_b32_e32 v3, 6, v0
    v_mov_b32_e32 v4, 11
    v_mov_b32_e32 v5, 12
    v_mov_b32_e32 v6, 13
    ds_write_b64 v3, v[4:5] offset:4
    ds_write_b96 v3, v[4:6] offset:12
    ds_write_b32 v3, v2 offset:24
    s_waitcnt lgkmcnt(0)
    ds_read_b64 v[10:11], v3 offset:4
    ds_read_b96 v[12:14], v3 offset:12
    ds_read_b128 v[2:5], v3 offset:12
    s_waitcnt lgkmcnt(1)
    v_add3_u32 v10, v10, v11, v12
    v_add3_u32 v10, v10, v13, v14
    s_waitcnt lgkmcnt(0)
    v_add3_u32 v10, v10, v2, v3
    v_add3_u32 v10, v10, v4, v5
    v_add_nc_u32_e32 v2, 0xffffffa1, v10 // less 95, the sum of all numbers but the lane's
    global_store_dword v1, v2, s[0:1]
END lds_misaligned

KERNEL nsa
    s_cmp_eq_u32 s0, s0
    s_cbranch_scc1 .Lnsa
    s_clause 0x1
    image_sample v[4:7], [v8, v10, v12], s[8:15], s[16:19] dmask:0xf dim:SQ_RSRC_IMG_3D
    image_sample v[20:23], [v8, v10, v12], s[8:15], s[16:19] dmask:0xf dim:SQ_RSRC_IMG_3D
    image_sample_d v[4:7], [v8, v10, v12, v14, v16, v18, v20, v22, v24], s[8:15], s[16:19] dmask:0xf dim:SQ_RSRC_IMG_3D
    buffer_load_dword v9, v8, s[8:11], 0 offen offset:2
.Lnsa:
    global_store_dword v1, v2, s[0:1]
END nsa

// By vector and by scalar addresses, loads over the address too; SCC stays.
KERNEL scratch_offset
    SCRATCH
    v_mov_b32_e32 v3, 7
    s_movk_i32 s20, 0x10
    s_cmp_eq_u32 s0, s0
    scratch_store_dword v3, v2, off offset:-3
    scratch_store_dword off, v0, s20 offset:-5
    scratch_load_dword v4, off, s20 offset:-5
    scratch_load_dword v3, v3, off offset:-3
    s_waitcnt vmcnt(0)
    v_sub_nc_u32_e32 v4, v4, v0
    v_add_nc_u32_e32 v2, v3, v4
    s_cbranch_scc0 .Lscratch
    global_store_dword v1, v2, s[0:1]
.Lscratch:
END scratch_offset
