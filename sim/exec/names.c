/* names.c: the names that reports and statistics print. */
#include "sim/sim.h"

const char *sim_kind_name(enum sim_kind kind)
{
    static const char *const names[SIM_N_KINDS] = {
        [SIM_ILLEGAL] = "illegal-instruction",
        [SIM_BAD_REGISTER] = "register-range",
        [SIM_BAD_FETCH] = "bad-fetch",
        [SIM_FAULT] = "memory-fault",
        [SIM_FAULT_LDS] = "lds-fault",
        [SIM_FAULT_SCRATCH] = "scratch-fault",
        [SIM_RUNAWAY] = "runaway",
        [SIM_TRAP] = "trap",
        [SIM_WAITCNT] = "waitcnt",
        [SIM_PATTERN] = "pattern",
        [SIM_MISALIGNED] = "misaligned",
        [SIM_UNDEFINED] = "undefined-register",
        [SIM_UNDEFINED_LDS] = "undefined-lds",
        [SIM_BARRIER] = "barrier",
        [SIM_DESCRIPTOR] = "descriptor",
    };
    return (unsigned)kind < SIM_N_KINDS ? names[kind] : "?";
}

const char *sim_class_name(enum sim_class which)
{
    static const char *const names[SIM_N_CLASSES] = {
        [SIM_CLASS_SALU] = "salu",
        [SIM_CLASS_SMEM] = "smem",
        [SIM_CLASS_BRANCH] = "branch",
        [SIM_CLASS_WAIT] = "wait",
        [SIM_CLASS_VALU] = "valu",
        [SIM_CLASS_FMA] = "fma",
        [SIM_CLASS_PKFMA] = "packed-fma",
        [SIM_CLASS_F64] = "f64",
        [SIM_CLASS_TRANS] = "transcendental",
        [SIM_CLASS_VMEM_LOAD] = "vmem-load",
        [SIM_CLASS_VMEM_STORE] = "vmem-store",
        [SIM_CLASS_VMEM_ATOMIC] = "vmem-atomic",
        [SIM_CLASS_DS_LOAD] = "lds-load",
        [SIM_CLASS_DS_STORE] = "lds-store",
        [SIM_CLASS_DS_OTHER] = "lds-other",
    };
    return (unsigned)which < SIM_N_CLASSES ? names[which] : "?";
}
