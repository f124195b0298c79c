/* line.h: what a line is by its beginning. Internal to src/help/explain. */
#ifndef RMCP_EXPLAIN_LINE_H
#define RMCP_EXPLAIN_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* A line of the kernel's or the system's log: "[   12.3] …", "Nov 16 12:00:00 host …". */
bool explain_is_system_log(const char *line, size_t length);

/* Is it the line of a service in a system's log, "Nov 16 12:00:00 host sshd[42]: …"? */
bool explain_is_service(const char *line, size_t length);

/* Does it start with the name of an exception, "torch.cuda.OutOfMemoryError: …"? */
bool explain_is_exception(const char *line, size_t length);

/* Does it look as the last line of a traceback, which names an exception of any name? */
bool explain_ends_trace(const char *line, size_t length);

/* Does it call itself an error, "[12:00:01] ERROR: …", "main: error: …", "level=ERROR …"? */
bool explain_is_called_error(const char *line, size_t length);

/* Does it start with a logger's mark of a warning, "W0220 20:11:07", "[W207 16:20:11"? */
bool explain_has_warning_mark(const char *line, size_t length);

/* Does it have an address, "0x7f01", as registers and frames of a crash's dump have? */
bool explain_has_address(const char *line, size_t length);

/* Is the line "False" or "0", and asks the one before whether PyTorch has a GPU? */
bool explain_is_refusal(const char *line, size_t length, const char *before, size_t size);

/* Does the kernel say it of another device, "[ 12.3] xhci_hcd 0000:02:00.0: …"? */
bool explain_is_other_device(const char *line, size_t length);

/* Is it what somebody said, "[00:01.000 --> 00:04.000]  …", or what a model answered, and not what
 * the program says? */
bool explain_is_speech(const char *line, size_t length);

/* Is it a row of a table: words in columns? */
bool explain_is_row(const char *line, size_t length);

#endif
