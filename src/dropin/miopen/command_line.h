/* command_line.h: what MIOpenDriver would be told to do the same: MIOPEN_ENABLE_LOGGING_CMD. */
#ifndef RMCP_MIOPEN_COMMAND_LINE_H
#define RMCP_MIOPEN_COMMAND_LINE_H

#include "dropin/miopen/convolution.h"

void mi_command_conv(const struct mi_conv *conv);
void mi_command_batchnorm(const struct mi_key *key);
void mi_command_rnn(const struct mi_key *key);
/* `operation`: set, scale, add, mul, min or max. */
void mi_command_tensor(const char *operation, const struct mi_tensor *tensor, double alpha,
                       double alpha2, double beta);

#endif
