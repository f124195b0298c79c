/* tree.h: the decision tree behind the recommendation, and one machine's path through it. */
#ifndef RMCP_DOCTOR_TREE_H
#define RMCP_DOCTOR_TREE_H

#include "help/doctor/doctor.h"

struct doctor_node {
    int parent;          /* index of a row above; -1: the root                              */
    const char *answer;  /* the answer to the parent's question that leads here             */
    const char *text;    /* a question, or for a leaf what to do                            */
    const char *cost;    /* of a leaf; "" for a question                                    */
    const char *options; /* of a leaf: ids of options, blanks between; "" for a question   */
};
extern const struct doctor_node doctor_tree[];
extern const size_t doctor_n_nodes;

/* Whether an option is one of the leaf. */
bool doctor_leaf_has(const struct doctor_node *node, const char *option);
/* Mark the nodes on the way to the option that is recommended first: `on_path` has doctor_n_nodes
 * places. */
void doctor_tree_path(const struct doctor_advice *advice, size_t n_advice, bool *on_path);

#endif
