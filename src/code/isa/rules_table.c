/* rules_table.c: the rules by name, and what LLVM's sources say of each. */
#include "code/isa/rules.h"

const struct isa_rule_info isa_rule_table[ISA_N_RULES] = {
    [ISA_RULE_VCMPX_EXEC_WAR] = {
        "vcmpx-exec-war", "FeatureVcmpxExecWARHazard",
        "VALU writes EXEC after a non-VALU read it, no VALU result in SGPRs and no "
        "s_waitcnt_depctr sa_sdst(0) between",
        "the V_CMPX write of EXEC may overtake the earlier read",
    },
    [ISA_RULE_VCMPX_PERMLANE] = {
        "vcmpx-permlane", "FeatureVcmpxPermlaneHazard",
        "v_permlane16 or v_permlanex16 after v_cmpx, no other VALU than v_nop between",
        "V_PERMLANE must not follow a V_CMPX directly",
    },
    [ISA_RULE_VMEM_SCALAR_WRITE] = {
        "vmem-scalar-write", "FeatureVMEMtoScalarWriteHazard",
        "SALU or SMEM writes an SGPR, EXEC or M0 that VMEM or DS read, no VALU, s_waitcnt 0 and "
        "s_waitcnt_depctr vm_vsrc(0) between",
        "VMEM or DS may still be reading the register that is overwritten",
    },
    [ISA_RULE_SMEM_VECTOR_WRITE] = {
        "smem-vector-write", "FeatureSMEMtoVectorWriteHazard",
        "VALU writes an SGPR that SMEM read, no SALU and no lgkmcnt(0) between",
        "s_load_dword followed by v_cmp page faults",
    },
    [ISA_RULE_INST_PREFETCH] = {
        "inst-prefetch", "FeatureInstFwdPrefetchBug",
        "any s_inst_prefetch",
        "S_INST_PREFETCH instruction causes shader to hang",
    },
    [ISA_RULE_LDS_BRANCH_VMEM] = {
        "lds-branch-vmem", "FeatureLdsBranchVmemWARHazard",
        "DS, then a branch, then VMEM, or the reverse, no s_waitcnt_vscnt null, 0 between",
        "switching between LDS and VMEM across a branch needs the stores waited for",
    },
    [ISA_RULE_FLAT_OFFSET] = {
        "flat-offset", "FeatureFlatSegmentOffsetBug",
        "FLAT (not GLOBAL, not SCRATCH) with an offset that is not 0",
        "inst_offset is ignored when flat instructions access global memory",
    },
    [ISA_RULE_BRANCH_3F] = {
        "branch-3f", "FeatureOffset3fBug",
        "SOPP branch whose offset is 0x3f",
        "branch offset of 3f has a hardware bug",
    },
    [ISA_RULE_LDS_MISALIGNED] = {
        "lds-misaligned", "FeatureLdsMisalignedBug",
        "DS access of 8, 12 or 16 bytes in WGP mode whose offset alone is not a multiple of its "
        "natural alignment (the base register is not known)",
        "multi-dword LDS access that is not naturally aligned has a bug in WGP mode",
    },
    [ISA_RULE_NSA] = {
        "nsa", "FeatureNSAtoVMEMBug, FeatureNSAClauseBug",
        "MIMG NSA of 16 bytes or more right before a buffer instruction with offset & 6, or MIMG "
        "NSA in an s_clause",
        "MIMG-NSA followed by VMEM fails if EXEC_LO or EXEC_HI equals zero; MIMG-NSA in a hard "
        "clause has unpredictable results",
    },
    [ISA_RULE_SCRATCH_OFFSET] = {
        "scratch-offset", "FeatureNegativeUnalignedScratchOffsetBug",
        "SCRATCH with a negative offset that is not a multiple of 4",
        "scratch instructions with a VGPR offset and a negative, unaligned offset address wrong "
        "memory",
    },
};
