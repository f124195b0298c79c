/* metadata.c: the kernels that the msgpack notes of a code object describe. */
#include <string.h>

#include "code/codeobj/msgpack.h"
#include "code/codeobj/parts.h"

struct metadata_reading {
    struct msgpack in;
    struct metadata *out;
};

static rmcp_status malformed(const struct metadata_reading *r, const char *what)
{
    return rmcp_fail(RMCP_E_IO, "metadata note: %s, %zu bytes before its end", what,
                     (size_t)(r->in.end - r->in.at));
}

static rmcp_status read_string(struct metadata_reading *r, const struct msgpack_value *value,
                               const char **out)
{
    if (value->type != MSGPACK_STRING) return malformed(r, "a string is wanted");
    *out = arena_string(r->out->arena, value->bytes, (size_t)value->number);
    return *out ? RMCP_OK : rmcp_fail_memory("string of the note", (size_t)value->number);
}

static rmcp_status read_number(struct metadata_reading *r, const struct msgpack_value *value,
                               uint32_t *out)
{
    if ((value->type != MSGPACK_UINT && value->type != MSGPACK_BOOL) || value->number > UINT32_MAX)
        return malformed(r, "a number of 32 bits is wanted");
    *out = (uint32_t)value->number;
    return RMCP_OK;
}

/* A key and the head of its value. */
static rmcp_status next_pair(struct metadata_reading *r, struct msgpack_value *key,
                             struct msgpack_value *value)
{
    if (!msgpack_next(&r->in, key) || !msgpack_skip_rest(&r->in, key) ||
        !msgpack_next(&r->in, value))
        return malformed(r, "a map is cut off");
    return RMCP_OK;
}

static rmcp_status read_argument(struct metadata_reading *r, struct codeobj_argument *argument)
{
    struct msgpack_value map, key, value;
    *argument = (struct codeobj_argument){ .name = "", .kind = "", .address_space = "" };
    if (!msgpack_next(&r->in, &map) || map.type != MSGPACK_MAP)
        return malformed(r, "an argument is not a map");
    for (uint64_t i = 0; i < map.number; i++) {
        rmcp_status status = next_pair(r, &key, &value);
        if (status) return status;
        if (msgpack_is(&key, ".name"))
            status = read_string(r, &value, &argument->name);
        else if (msgpack_is(&key, ".value_kind"))
            status = read_string(r, &value, &argument->kind);
        else if (msgpack_is(&key, ".address_space"))
            status = read_string(r, &value, &argument->address_space);
        else if (msgpack_is(&key, ".offset"))
            status = read_number(r, &value, &argument->offset);
        else if (msgpack_is(&key, ".size"))
            status = read_number(r, &value, &argument->size);
        else if (!msgpack_skip_rest(&r->in, &value))
            status = malformed(r, "an argument is cut off");
        if (status) return status;
    }
    argument->hidden = !strncmp(argument->kind, "hidden_", 7);
    return RMCP_OK;
}

static rmcp_status read_arguments(struct metadata_reading *r, const struct msgpack_value *array,
                                  struct codeobj_kernel *kernel)
{
    if (array->type != MSGPACK_ARRAY) return malformed(r, ".args is not an array");
    struct msgpack ahead = r->in; /* so that the count is backed by bytes before it is believed */
    if (!msgpack_skip_rest(&ahead, array)) return malformed(r, ".args is cut off");
    if (array->number > MAX_ARGUMENTS - r->out->n_arguments)
        return malformed(r, "too many arguments");
    r->out->n_arguments += (size_t)array->number;
    struct codeobj_argument *arguments =
        arena_alloc(r->out->arena, (size_t)array->number, sizeof *arguments);
    if (!arguments) return rmcp_fail_memory("arguments", (size_t)array->number);
    for (uint64_t i = 0; i < array->number; i++) {
        rmcp_status status = read_argument(r, &arguments[i]);
        if (status) return status;
    }
    kernel->arguments = arguments;
    kernel->n_arguments = (size_t)array->number;
    return RMCP_OK;
}

static rmcp_status read_workgroup_size(struct metadata_reading *r,
                                       const struct msgpack_value *array, uint32_t out[3])
{
    if (array->type != MSGPACK_ARRAY || array->number != 3)
        return malformed(r, ".reqd_workgroup_size is not three numbers");
    for (int i = 0; i < 3; i++) {
        struct msgpack_value value;
        if (!msgpack_next(&r->in, &value)) return malformed(r, "a workgroup size is cut off");
        rmcp_status status = read_number(r, &value, &out[i]);
        if (status) return status;
    }
    return RMCP_OK;
}

const struct metadata_number metadata_numbers[METADATA_NUMBERS] = {
    { ".group_segment_fixed_size", offsetof(struct codeobj_metadata, group_bytes) },
    { ".private_segment_fixed_size", offsetof(struct codeobj_metadata, private_bytes) },
    { ".kernarg_segment_size", offsetof(struct codeobj_metadata, kernarg_bytes) },
    { ".kernarg_segment_align", offsetof(struct codeobj_metadata, kernarg_align) },
    { ".sgpr_count", offsetof(struct codeobj_metadata, sgpr_count) },
    { ".vgpr_count", offsetof(struct codeobj_metadata, vgpr_count) },
    { ".agpr_count", offsetof(struct codeobj_metadata, agpr_count) },
    { ".sgpr_spill_count", offsetof(struct codeobj_metadata, sgpr_spill_count) },
    { ".vgpr_spill_count", offsetof(struct codeobj_metadata, vgpr_spill_count) },
    { ".wavefront_size", offsetof(struct codeobj_metadata, wavefront_size) },
    { ".max_flat_workgroup_size", offsetof(struct codeobj_metadata, max_flat_workgroup_size) },
    { ".workgroup_processor_mode", offsetof(struct codeobj_metadata, workgroup_processor_mode) },
    { ".uses_dynamic_stack", offsetof(struct codeobj_metadata, uses_dynamic_stack) },
};

static rmcp_status read_kernel_value(struct metadata_reading *r, const struct msgpack_value *key,
                                     const struct msgpack_value *value,
                                     struct codeobj_kernel *kernel)
{
    if (msgpack_is(key, ".name")) return read_string(r, value, &kernel->name);
    if (msgpack_is(key, ".symbol")) return read_string(r, value, &kernel->symbol);
    if (msgpack_is(key, ".args")) return read_arguments(r, value, kernel);
    if (msgpack_is(key, ".reqd_workgroup_size"))
        return read_workgroup_size(r, value, kernel->metadata.required_workgroup_size);
    for (size_t i = 0; i < METADATA_NUMBERS; i++)
        if (msgpack_is(key, metadata_numbers[i].key)) {
            uint32_t number = 0;
            rmcp_status status = read_number(r, value, &number);
            memcpy((char *)&kernel->metadata + metadata_numbers[i].offset, &number, sizeof number);
            return status;
        }
    return msgpack_skip_rest(&r->in, value) ? RMCP_OK : malformed(r, "a kernel is cut off");
}

static rmcp_status read_kernel(struct metadata_reading *r, struct codeobj_kernel *kernel)
{
    struct msgpack_value map, key, value;
    *kernel = (struct codeobj_kernel){ .name = "", .symbol = "", .has_metadata = true };
    if (!msgpack_next(&r->in, &map) || map.type != MSGPACK_MAP)
        return malformed(r, "a kernel is not a map");
    for (uint64_t i = 0; i < map.number; i++) {
        rmcp_status status = next_pair(r, &key, &value);
        if (!status) status = read_kernel_value(r, &key, &value, kernel);
        if (status) return status;
    }
    if (!*kernel->name) kernel->name = kernel->symbol;
    if (!*kernel->name) return malformed(r, "a kernel has neither name nor symbol");
    return RMCP_OK;
}

static rmcp_status make_room(struct metadata *out, uint64_t more)
{
    if (more <= out->room - out->n) return RMCP_OK;
    size_t room = out->n + (size_t)more;
    if (room < 2 * out->room) room = 2 * out->room;
    struct codeobj_kernel *grown = arena_alloc(out->arena, room, sizeof *grown);
    if (!grown) return rmcp_fail_memory("kernels", room * sizeof *grown);
    if (out->n) memcpy(grown, out->kernels, out->n * sizeof *grown);
    out->kernels = grown;
    out->room = room;
    return RMCP_OK;
}

static rmcp_status read_kernels(struct metadata_reading *r, const struct msgpack_value *array)
{
    if (array->type != MSGPACK_ARRAY) return malformed(r, "amdhsa.kernels is not an array");
    struct msgpack ahead = r->in;
    if (!msgpack_skip_rest(&ahead, array)) return malformed(r, "amdhsa.kernels is cut off");
    if (array->number > MAX_KERNELS - r->out->n) return malformed(r, "too many kernels");
    rmcp_status status = make_room(r->out, array->number);
    for (uint64_t i = 0; !status && i < array->number; i++)
        status = read_kernel(r, &r->out->kernels[r->out->n++]);
    return status;
}

rmcp_status metadata_read(void *metadata, const struct elf_note *note)
{
    struct metadata_reading r = { .in = { note->bytes, note->bytes + note->size },
                                  .out = metadata };
    struct msgpack_value map, key, value;
    if (!elf_note_is(note, "AMDGPU", NT_AMDGPU_METADATA)) return RMCP_OK;
    if (!msgpack_next(&r.in, &map) || map.type != MSGPACK_MAP)
        return malformed(&r, "it is not a map");
    for (uint64_t i = 0; i < map.number; i++) {
        rmcp_status status = next_pair(&r, &key, &value);
        if (status) return status;
        if (msgpack_is(&key, "amdhsa.kernels"))
            status = read_kernels(&r, &value);
        else if (msgpack_is(&key, "amdhsa.target"))
            status = read_string(&r, &value, &r.out->target);
        else if (!msgpack_skip_rest(&r.in, &value))
            status = malformed(&r, "it is cut off");
        if (status) return status;
    }
    return RMCP_OK;
}
