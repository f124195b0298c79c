/* log.h: what the drop-in says, on stderr, and only when it is asked to.
 *
 * MIOPEN_LOG_LEVEL and MIOPEN_ENABLE_LOGGING mean what they mean to the original; RMCP_LOG=1 asks
 * for errors and what is not implemented, RMCP_LOG=0 for not a word, whatever the others say. */
#ifndef RMCP_MIOPEN_LOG_H
#define RMCP_MIOPEN_LOG_H

#include "dropin/miopen/api.h"

/* The original's levels. */
enum mi_level { MI_ERROR = 3, MI_WARNING = 4, MI_INFO = 5, MI_INFO2 = 6, MI_TRACE = 7 };

bool mi_log_wants(enum mi_level level);

/* One line: "rmcp: MIOpen: …". */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void mi_log(enum mi_level level, const char *format, ...);

/* The line about a long first use: said unless RMCP_LOG=0 or MIOPEN_LOG_LEVEL=1 (quiet). */
void mi_log_notice(const char *line, void *context);

/* Whether MIOPEN_ENABLE_LOGGING_CMD wants command lines for MIOpenDriver; and one of them. */
bool mi_log_wants_commands(void);
void mi_log_command(const char *text);

/* Say why at the level of errors, and return `status`. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
miopenStatus_t
mi_fail(miopenStatus_t status, const char *format, ...);

#endif
