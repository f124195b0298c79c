/* tree.h: the decision tree behind the recommendation, and one machine's path through it. */
#ifndef RMCP_DOCTOR_TREE_H
#define RMCP_DOCTOR_TREE_H

#include "help/doctor/doctor.h"

/* Places in doctor_tree, which is made from tree.inc. */
enum doctor_place {
    DOCTOR_AT_NOWHERE = -1,
#define NODE(name, ...) DOCTOR_AT_##name,
#include "help/doctor/tree.inc"
#undef NODE
    DOCTOR_PLACES
};

struct doctor_node {
    int parent;         /* a row above; DOCTOR_AT_NOWHERE: the root             */
    const char *answer; /* the answer to the parent's question that leads here  */
    const char *text;   /* a question, or for a leaf what to do                 */
    const char *cost;   /* of a leaf; "" for a question                         */
};
extern const struct doctor_node doctor_tree[DOCTOR_PLACES];

/* Mark the nodes on the way to the option that is recommended first. */
void doctor_tree_path(const struct doctor_advice *advice, size_t n_advice,
                      bool on_path[static DOCTOR_PLACES]);

#endif
