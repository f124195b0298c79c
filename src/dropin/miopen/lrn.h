/* lrn.h: descriptors of local response normalisation. */
#ifndef RMCP_MIOPEN_LRN_H
#define RMCP_MIOPEN_LRN_H

#include "dropin/miopen/object.h"

struct mi_lrn {
    struct mi_object object;
    bool set;
    miopenLRNMode_t mode;
    unsigned n;
    double alpha, beta, k;
};

#endif
