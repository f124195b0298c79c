/* order.h: causes before effects. Internal to src/explain. */
#ifndef RMCP_EXPLAIN_ORDER_H
#define RMCP_EXPLAIN_ORDER_H

#include "explain/explain.h"

/* Put the matches of a text that has been read into their order, and leave out those that another
 * makes superfluous or that speak of other chips. */
void explain_order(struct explain_result *result);

enum { EXPLAIN_HARMLESS = 30 }; /* weights below it: signatures_kernel.inc */

/* True when the signature is harmless, or says no more than that something ended. */
bool explain_is_vague(const struct explain_signature *signature);

#endif
