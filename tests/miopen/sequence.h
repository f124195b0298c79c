/* sequence.h: what the call sequences share: MIOpen and HIP as loaded, memory with guards, records.
 */
#ifndef RMCP_TESTS_MIOPEN_SEQUENCE_H
#define RMCP_TESTS_MIOPEN_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The original's header, where the build names it; it is C++ in one place, and has short names. */
#ifdef RMCP_MIOPEN_HEADER
#define MIOPEN_BETA_API 1
#define SCALE MIOPEN_SCALE
typedef struct miopenTensorArgument_t miopenTensorArgument_t;
#include RMCP_MIOPEN_HEADER
#undef SCALE
#else
#include "dropin/miopen/api.h"
#endif

#include "sequence_functions.h"

enum { MAX_DIMS = 5 };

/* The functions of the library under test, as its header declares them; NULL where it lacks one. */
struct miopen_functions {
#define F(name) __typeof__(name) *name;
    SEQUENCE_MIOPEN_FUNCTIONS(F)
#undef F
    /* Only for C++ in MIOpen's header, and in no header at all: clients declare that one
     * themselves. */
    miopenStatus_t (*miopenSetTensorDescriptorV2)(miopenTensorDescriptor_t, miopenDataType_t, int,
                                                  const size_t *, const size_t *);
    miopenStatus_t (*miopenHiddenSetConvolutionFindMode)(miopenConvolutionDescriptor_t, int);
};

/* One process has one world: a library, a device, a handle with a stream. */
struct world {
    struct miopen_functions api;
    miopenHandle_t handle;
    void *stream;
    const char *folder; /* records and dumps go there */
};
extern struct world world;

/* Loads both libraries; false and a line on stderr when one cannot be loaded. */
bool world_load(const char *miopen_library, const char *folder);
/* Creates a handle with a stream, as clients do for every device and thread; its status. */
miopenStatus_t world_open(void);
/* Waits for the device; false after an error in a kernel. */
bool world_wait(void);

/* Shape of a tensor as clients describe it. */
struct tensor {
    miopenDataType_t type;
    int n_dims;
    int dims[MAX_DIMS], strides[MAX_DIMS];
};
size_t tensor_bytes(const struct tensor *tensor);   /* from the first to behind the last element */
void tensor_pack(struct tensor *tensor, bool last); /* packed strides; channels last when asked */
size_t type_bytes(miopenDataType_t type);
/* A number that the type holds without rounding, and not as a denormal. */
void store_exactly(void *to, miopenDataType_t type, float value);

/* Device memory with guard bytes around it. Outputs start as NaN, inputs as random numbers. */
struct memory {
    char name[8]; /* in dumps and records */
    void *device; /* what MIOpen gets; NULL when bytes is 0 */
    char *base, *initial;
    size_t bytes;
};
struct memory memory_output(const char *name, size_t bytes);
struct memory memory_input(const char *name, const struct tensor *tensor, uint32_t seed);
struct memory memory_positive(const char *name, const struct tensor *tensor, uint32_t seed);
struct memory memory_zero(const char *name, size_t bytes);
struct memory memory_copy(const char *name, const void *bytes, size_t n_bytes);
/* Reads it back, writes the dump, notes "NAME=changed" for an input and "guard=NAME" for a guard
 * that was written, and frees it. */
void memory_close(struct memory *memory, bool input);
void memory_drop(struct memory *memory); /* a workspace: guards only, no dump */

/* Records: one line of KEY=VALUE words for each sequence. Share before the first, and before any
 * fork. */
bool record_share(void);
bool record_open(void); /* begun and not ended */
void record_begin(const char *kind, const char *client, const char *name, const char *pass);
void record_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void record_tensor(const char *key, const struct tensor *tensor);
void record_ints(const char *key, int n, const int *values);
/* Notes "FUNCTION:STATUS" in calls=, and returns the status. */
miopenStatus_t called(const char *function, miopenStatus_t status);
void record_end(void);

/* A descriptor made as one kind of client does. */
enum setter { SET_INT, SET_SIZE, SET_NULL_STRIDES, SET_4D, SET_4D_EX };
miopenTensorDescriptor_t describe(const struct tensor *tensor, enum setter setter);

/* The sequences; each has a table of cases. */
void conv_sequences(void);
void norm_sequences(void);
void tensor_sequences(void);
void pool_sequences(void);
void rnn_sequences(void);
void fusion_sequences(void);
void softmax_problem_sequences(void);
void mha_sequences(void);
void hostile_sequences(void);
/* A sequence: its record is begun, the handle is open, and its record is ended after it. */
struct sequence {
    const char *kind, *client, *name, *pass;
    void (*body)(const void *what);
    const void *what;
};
/* Runs it, if it is selected, in a process of its own, so that a crash is a record, too; or in this
 * one where it must be (--together) and does not ask for a process of its own. */
void sequence_run(const struct sequence *sequence, bool alone);

#endif
