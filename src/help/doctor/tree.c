/* tree.c: the decision tree behind the recommendation, and one machine's path through it. */
#include "help/doctor/tree.h"

const struct doctor_node doctor_tree[DOCTOR_PLACES] = {
#define NODE(name, above, ...) { DOCTOR_AT_##above, __VA_ARGS__ },
#include "help/doctor/tree.inc"
#undef NODE
};

void doctor_tree_path(const struct doctor_advice *advice, size_t n_advice,
                      bool on_path[static DOCTOR_PLACES])
{
    for (size_t i = 0; i < DOCTOR_PLACES; i++) on_path[i] = false;
    int at = n_advice ? advice[0].option->leaf : DOCTOR_AT_NOWHERE;
    for (; at >= 0; at = doctor_tree[at].parent) on_path[at] = true;
}
