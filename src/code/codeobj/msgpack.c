/* msgpack.c: a reader of MessagePack that stays within its bytes and needs no stack. */
#include "code/codeobj/msgpack.h"

#include <string.h>

static bool take(struct msgpack *reader, unsigned n, uint64_t *number)
{
    if ((size_t)(reader->end - reader->at) < n) return false;
    *number = 0;
    for (unsigned i = 0; i < n; i++) *number = *number << 8 | *reader->at++; /* big-endian */
    return true;
}

static bool take_bytes(struct msgpack *reader, struct msgpack_value *value, uint64_t extra)
{
    uint64_t left = (uint64_t)(reader->end - reader->at);
    if (value->number > left || extra > left - value->number) return false;
    value->bytes = reader->at + extra;
    reader->at += value->number + extra;
    return true;
}

/* Lengths of 1, 2, 4 (or 8) bytes follow the heads `first`, `first` + 1, … */
static bool sized(struct msgpack *reader, struct msgpack_value *value, enum msgpack_type type,
                  unsigned bytes)
{
    value->type = type;
    return take(reader, bytes, &value->number);
}

static bool sign_extend(struct msgpack *reader, struct msgpack_value *value, unsigned bytes)
{
    if (!sized(reader, value, MSGPACK_UINT, bytes)) return false;
    uint64_t sign = (uint64_t)1 << (8 * bytes - 1);
    if (value->number & sign) {
        value->type = MSGPACK_INT;
        value->number |= ~(sign | (sign - 1));
    }
    return true;
}

bool msgpack_next(struct msgpack *reader, struct msgpack_value *value)
{
    uint64_t head;
    *value = (struct msgpack_value){ 0 };
    if (!take(reader, 1, &head)) return false;
    if (head <= 0x7f || head >= 0xe0) {
        value->type = head <= 0x7f ? MSGPACK_UINT : MSGPACK_INT;
        value->number = head <= 0x7f ? head : head | ~(uint64_t)0xff;
        return true;
    }
    if (head <= 0x9f) {
        value->type = head <= 0x8f ? MSGPACK_MAP : MSGPACK_ARRAY;
        value->number = head & 0xf;
        return true;
    }
    if (head <= 0xbf) {
        value->type = MSGPACK_STRING;
        value->number = head & 0x1f;
        return take_bytes(reader, value, 0);
    }
    unsigned low = (unsigned)head;
    switch (low) {
    case 0xc0: return true; /* nil */
    case 0xc2:
    case 0xc3:
        value->type = MSGPACK_BOOL;
        value->number = head & 1;
        return true;
    case 0xc4:
    case 0xc5:
    case 0xc6:
        return sized(reader, value, MSGPACK_BINARY, 1u << (low - 0xc4)) &&
               take_bytes(reader, value, 0);
    case 0xc7:
    case 0xc8:
    case 0xc9: /* extension: length, type, bytes */
        return sized(reader, value, MSGPACK_BINARY, 1u << (low - 0xc7)) &&
               take_bytes(reader, value, 1);
    case 0xca:
    case 0xcb: return sized(reader, value, MSGPACK_FLOAT, 4u << (low - 0xca));
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf: return sized(reader, value, MSGPACK_UINT, 1u << (low - 0xcc));
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3: return sign_extend(reader, value, 1u << (low - 0xd0));
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8: /* extension of 1, 2, 4, 8 or 16 bytes */
        value->type = MSGPACK_BINARY;
        value->number = 1u << (low - 0xd4);
        return take_bytes(reader, value, 1);
    case 0xd9:
    case 0xda:
    case 0xdb:
        return sized(reader, value, MSGPACK_STRING, 1u << (low - 0xd9)) &&
               take_bytes(reader, value, 0);
    case 0xdc:
    case 0xdd: return sized(reader, value, MSGPACK_ARRAY, 2u << (low - 0xdc));
    case 0xde:
    case 0xdf: return sized(reader, value, MSGPACK_MAP, 2u << (low - 0xde));
    default: return false; /* 0xc1 is never used */
    }
}

static uint64_t elements(const struct msgpack_value *value)
{
    if (value->type == MSGPACK_ARRAY) return value->number;
    return value->type == MSGPACK_MAP ? 2 * value->number : 0;
}

bool msgpack_skip_rest(struct msgpack *reader, const struct msgpack_value *value)
{
    /* Counts have 32 bits and every element takes a byte: no overflow, linear time. */
    uint64_t left = elements(value);
    for (struct msgpack_value next; left; left--) {
        if (!msgpack_next(reader, &next)) return false;
        left += elements(&next);
    }
    return true;
}

bool msgpack_skip(struct msgpack *reader)
{
    struct msgpack_value value;
    return msgpack_next(reader, &value) && msgpack_skip_rest(reader, &value);
}

bool msgpack_is(const struct msgpack_value *value, const char *text)
{
    return value->type == MSGPACK_STRING && value->number == strlen(text) &&
           !memcmp(value->bytes, text, (size_t)value->number);
}
