/* algo.c: asking an algorithm. */
#include "engine/core/algo.h"

rmcp_status rmcp_algo_consider(const struct rmcp_algo *algo, const struct rmcp_request *request,
                               struct rmcp_way *way)
{
    way->refusal = NULL;
    way->seconds = 0;
    way->workspace_bytes = 0;
    way->text[0] = 0;
    if (algo->consider) return algo->consider(request, way);
    way->refusal = algo->refuse(request);
    if (way->refusal) return RMCP_OK;
    way->seconds = algo->cost(request);
    return algo->workspace ? algo->workspace(request, &way->workspace_bytes) : RMCP_OK;
}
