/* gpu.c: the tensors of activations as streams. */
#include "engine/ops/act/gpu.h"

void rmcp_act_cut(const struct rmcp_request *request, struct rmcp_streams *streams)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    rmcp_streams_begin(streams, form->dims, form->size);
    rmcp_streams_add(streams, form, rmcp_act_result(form), NULL, 0);
    rmcp_streams_add(streams, form, RMCP_ACT_X, NULL, 0);
    if (form->word[RMCP_ACT_PASS])
        rmcp_streams_add(streams, form, RMCP_ACT_Y, NULL, 0);
    else
        rmcp_streams_add(streams, form, RMCP_ACT_X, NULL, 0); /* y is the result */
    rmcp_streams_add(streams, form, RMCP_ACT_DY, NULL, 0);
    rmcp_streams_cut(streams, request);
}
