/* box.c: softmax's tensors as lines in dense memory, whichever layout they have. */
#include "engine/gpu/launch.h"
#include "engine/ops/softmax/softmax.h"

bool rmcp_softmax_box_of(const struct rmcp_form *form, struct rmcp_softmax_box *box)
{
    const struct rmcp_form_tensor *first = NULL;
    for (unsigned slot = 0; form->rules->tensors[slot]; slot++) {
        const struct rmcp_form_tensor *t = &form->tensor[slot];
        if (!t->dims) continue;
        if (!first) first = t;
        for (unsigned d = 0; d < form->dims; d++)
            if (form->size[d] > 1 && t->stride[d] != first->stride[d]) return false;
    }
    if (!first) return false;
    /* Dimensions by rising strides: each goes on where the one before it ends. */
    unsigned done = 0;
    int64_t elements = 1;
    *box = (struct rmcp_softmax_box){ 1, 1, 1 };
    for (unsigned d = 0; d < form->dims && d < RMCP_FORM_DIMS; d++)
        done |= (unsigned)(form->size[d] == 1) << d;
    while (done != (1u << form->dims) - 1) {
        unsigned next = 0;
        while (next < form->dims && (done >> next & 1 || first->stride[next] != elements)) next++;
        if (next == form->dims) return false;
        if (!rmcp_softmax_along(form, next))
            *(box->length > 1 ? &box->outer : &box->inner) *= form->size[next];
        else if (box->outer > 1)
            return false;
        else
            box->length *= form->size[next];
        elements *= form->size[next];
        done |= 1u << next;
    }
    return true;
}

double rmcp_softmax_seconds(const struct rmcp_request *request, double times, double groups)
{
    const struct rmcp_caps *caps = request->caps;
    const double units = (double)rmcp_launch_units(caps);
    const double busy = groups / (units * RMCP_SOFTMAX_UNIT_GROUPS);
    const double bytes = request->operation->bytes(request->problem) * times;
    return bytes / caps->bytes_per_second / (busy < 1 ? busy : 1);
}
