/* addresses.h: where doctor and explain say that software is to be had: the only place in the
 * sources that does.
 *
 * The documents must name the same ones: the test "doctor addresses" compares. */
#ifndef RMCP_CHIP_ADDRESSES_H
#define RMCP_CHIP_ADDRESSES_H

/* pytorch.org's wheels; a release follows: "rocm6.4". */
#define ADDRESS_WHEELS "https://download.pytorch.org/whl/"
/* AMD's own wheels (TheRock), one extra for each chip: "torch[device-gfx1010]". The nightly index
 * is the one that has RDNA1. */
#define ADDRESS_AMD_WHEELS "https://rocm.nightlies.amd.com/whl-multi-arch/"
/* A container for Polaris that one person keeps. */
#define ADDRESS_GFX803 "https://github.com/robertrosenbusch/gfx803_rocm"

#endif
