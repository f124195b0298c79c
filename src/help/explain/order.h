/* order.h: causes before effects. Internal to src/help/explain. */
#ifndef RMCP_EXPLAIN_ORDER_H
#define RMCP_EXPLAIN_ORDER_H

#include "help/explain/explain.h"

/* Put the matches of a text that has been read into their order, and leave out those that another
 * makes superfluous or that speak of other chips. */
void explain_order(struct explain_result *result);

/* How the program went on. */
struct explain_course {
    uint64_t well; /* the last line in which it says that it runs or did its work; 0: none */
    uint64_t calm; /* lines so far that tell of no trouble */
};

/* Did it go on after line `line`, behind `calm` such lines? What calls itself an error is believed
 * longer. */
bool explain_went_on(const struct explain_course *course, uint64_t line, uint64_t calm, bool error);

/* Leave out what stands on little or was only noticed (or what is `harmless`, which has to be asked
 * behind explain_order), and after which the program went on. */
void explain_leave_out_noticed(const struct explain_course *course, bool harmless,
                               struct explain_result *result);

enum { EXPLAIN_HARMLESS = 30 }; /* weights below it: signatures_kernel.inc */

/* True when the findings name no particular cause (each is vague, or says something only where
 * nothing else does) and the program computes: then what is known of the card is worth saying. */
bool explain_card_matters(const struct explain_result *result);

/* True when it is vague, or says something only where nothing else does. */
bool explain_is_general(const struct explain_signature *signature);

/* True when the signature is harmless, or says no more than that something ended. */
bool explain_is_vague(const struct explain_signature *signature);

/* Are its lines such that programs print and go on: warnings, lines that start with what goes well,
 * or that something is missing without calling it an error? */
bool explain_is_notice(const struct explain_match *match);

/* Does the finding stand on little: on a notice, or on what a form or a general reader made of a
 * line? Such a one is quoted where nothing firm stands beside it. */
bool explain_is_thin(const struct explain_match *match);

#endif
