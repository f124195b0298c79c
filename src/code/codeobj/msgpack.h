/* msgpack.h: a reader of MessagePack that stays within its bytes and needs no stack. */
#ifndef RMCP_CODEOBJ_MSGPACK_H
#define RMCP_CODEOBJ_MSGPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct msgpack {
    const uint8_t *at, *end;
};

enum msgpack_type {
    MSGPACK_NIL,
    MSGPACK_BOOL,   /* number is 0 or 1                        */
    MSGPACK_UINT,   /* number                                  */
    MSGPACK_INT,    /* a negative number; number is its bits   */
    MSGPACK_FLOAT,  /* number is its bits                      */
    MSGPACK_STRING, /* bytes, number of them                   */
    MSGPACK_BINARY, /* likewise, also extensions               */
    MSGPACK_ARRAY,  /* number of elements that follow          */
    MSGPACK_MAP     /* number of pairs that follow             */
};

struct msgpack_value {
    enum msgpack_type type;
    uint64_t number;
    const uint8_t *bytes;
};

/* Read the head of the next value; false when the bytes end or make no sense. */
bool msgpack_next(struct msgpack *reader, struct msgpack_value *value);

/* Pass over what belongs to a value that was just read: the elements of an array or map. */
bool msgpack_skip_rest(struct msgpack *reader, const struct msgpack_value *value);

/* Pass over one whole value. */
bool msgpack_skip(struct msgpack *reader);

bool msgpack_is(const struct msgpack_value *value, const char *text);

#endif
