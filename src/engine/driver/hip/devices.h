/* devices.h: which HIP devices there are, and what they and the kernel driver say of them. */
#ifndef RMCP_DRIVER_HIP_DEVICES_H
#define RMCP_DRIVER_HIP_DEVICES_H

#include "engine/core/device.h"
#include "engine/driver/hip/api.h"
#include "engine/driver/hip/chip.h"

/* How many devices there are; 0 with the reason in `why`. */
int rmcp_hip_count(const struct rmcp_hip *hip, char *why, size_t why_size);

/* Fill name, chip, driver …, and find the chip and its code. What could be found out is filled in
 * also on error: RMCP_E_UNSUPPORTED when no code is right for the chip. */
rmcp_status rmcp_hip_describe(const struct rmcp_hip *hip, int index, rmcp_device_info *info,
                              struct rmcp_hip_chip *chip, struct rmcp_hip_code *code);

/* What algorithms may know. */
rmcp_status rmcp_hip_caps(const struct rmcp_hip *hip, int index, const rmcp_device_info *info,
                          const struct rmcp_hip_chip *chip, struct rmcp_caps *caps);

#endif
