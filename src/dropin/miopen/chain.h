/* chain.h: the original library behind ours: for everything (RMCP_DISABLE=1), or for what is not
 * implemented here (RMCP_MIOPEN_CHAIN=1).
 *
 * In a chain every object that a function of the original's might be given has a twin of the
 * original's, and the program is given the twin's pointer: so the functions that are handed on need
 * no translation. */
#ifndef RMCP_MIOPEN_CHAIN_H
#define RMCP_MIOPEN_CHAIN_H

#include "dropin/miopen/object.h"

struct mi_handle;
struct mi_tensor;
struct mi_convolution;
struct mi_activation;
struct mi_pool;
struct mi_lrn;
struct mi_rnn;

/* Whether functions that are not implemented here go to the original. */
bool mi_chaining(void);

/* The original's function of this name, or NULL. */
void *mi_original(const char *name);

/* A new descriptor, with a twin where there is a chain: what the program is given for it goes to
 * `out`, a pointer to its kind of pointer. Without the twin that it needs it is deleted. */
miopenStatus_t mi_chain_descriptor(struct mi_object *object, enum mi_kind kind, void *out);

/* Give a new handle its twin; destroy one; tell it what was set. Without a chain they do nothing.
 */
miopenStatus_t mi_chain_handle(struct mi_handle *handle);
void mi_chain_destroy(struct mi_object *object, enum mi_kind kind);
miopenStatus_t mi_chain_stream(struct mi_handle *handle);
miopenStatus_t mi_chain_allocator(struct mi_handle *handle);
miopenStatus_t mi_chain_tensor(const struct mi_tensor *tensor);
miopenStatus_t mi_chain_convolution(const struct mi_convolution *convolution);
miopenStatus_t mi_chain_activation(const struct mi_activation *activation);
miopenStatus_t mi_chain_pool(const struct mi_pool *pool);
miopenStatus_t mi_chain_lrn(const struct mi_lrn *lrn);
miopenStatus_t mi_chain_rnn(const struct mi_rnn *rnn);

/* What a program has set in the twin by the original's own C++, which ours does not see; false:
 * nothing, or no twin. */
bool mi_chain_adopt_pool(struct mi_pool *pool);

#endif
