/* object.c: what MIOpen's opaque pointers point to. */
#include "dropin/miopen/object.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Blocks of growing size: few enough to ask each whether a pointer lies in it. */
enum { BLOCKS = 24, FIRST = 64 };

struct pool {
    pthread_mutex_t lock;
    size_t size; /* of one object */
    _Atomic(char *) block[BLOCKS];
    size_t used; /* objects taken of the last block */
    int blocks;
    struct mi_object *first, *last; /* that can be used again, the longest unused first */
};

static struct pool pools[MI_KINDS] = {
    [MI_HANDLE] = { .lock = PTHREAD_MUTEX_INITIALIZER },
    [MI_TENSOR] = { .lock = PTHREAD_MUTEX_INITIALIZER },
    [MI_CONVOLUTION] = { .lock = PTHREAD_MUTEX_INITIALIZER },
    [MI_ACTIVATION] = { .lock = PTHREAD_MUTEX_INITIALIZER },
    [MI_PROBLEM] = { .lock = PTHREAD_MUTEX_INITIALIZER },
    [MI_FIND_OPTIONS] = { .lock = PTHREAD_MUTEX_INITIALIZER },
    [MI_SOLUTION] = { .lock = PTHREAD_MUTEX_INITIALIZER },
    [MI_RNN] = { .lock = PTHREAD_MUTEX_INITIALIZER },
    [MI_DROPOUT] = { .lock = PTHREAD_MUTEX_INITIALIZER },
    [MI_SEQUENCE] = { .lock = PTHREAD_MUTEX_INITIALIZER },
    [MI_POOL] = { .lock = PTHREAD_MUTEX_INITIALIZER },
    [MI_LRN] = { .lock = PTHREAD_MUTEX_INITIALIZER },
    [MI_SOFTMAX] = { .lock = PTHREAD_MUTEX_INITIALIZER },
    [MI_REDUCE] = { .lock = PTHREAD_MUTEX_INITIALIZER },
    [MI_CTC] = { .lock = PTHREAD_MUTEX_INITIALIZER },
    [MI_MHA] = { .lock = PTHREAD_MUTEX_INITIALIZER },
};

/* Twins: open addressing, from the original's pointer to our object; 0 is free, 1 was used once. */
static struct {
    pthread_mutex_t lock;
    struct twin {
        uintptr_t name;
        struct mi_object *object;
    } * table;
    size_t room, used; /* room is a power of two */
    atomic_bool any;
} twins = { .lock = PTHREAD_MUTEX_INITIALIZER };

static size_t block_objects(int block)
{
    return (size_t)FIRST << block;
}

static size_t twin_place(uintptr_t name)
{
    return (size_t)((uint64_t)name * 0x9e3779b97f4a7c15u >> 20) & (twins.room - 1);
}

static bool twins_grow(void)
{
    size_t room = twins.room ? twins.room : 64;
    size_t live = 0;
    for (size_t i = 0; i < twins.room; i++) live += twins.table[i].name > 1;
    while (room < 4 * (live + 1)) room *= 2;
    struct twin *old = twins.table;
    size_t old_room = twins.room;
    struct twin *table = calloc(room, sizeof *table);
    if (!table) return false;
    twins.table = table;
    twins.room = room;
    twins.used = 0;
    for (size_t i = 0; i < old_room; i++) {
        if (old[i].name <= 1) continue;
        size_t place = twin_place(old[i].name);
        while (table[place].name) place = (place + 1) & (room - 1);
        table[place] = old[i];
        twins.used++;
    }
    free(old);
    return true;
}

static struct twin *twin_find(uintptr_t name)
{
    if (!twins.room || name <= 1) return NULL;
    size_t place = twin_place(name);
    while (twins.table[place].name && twins.table[place].name != name)
        place = (place + 1) & (twins.room - 1);
    return twins.table[place].name ? &twins.table[place] : NULL;
}

bool mi_object_twin(void *pointer, void *name)
{
    struct mi_object *object = pointer;
    pthread_mutex_lock(&twins.lock);
    bool good = (uintptr_t)name > 1 && (2 * (twins.used + 1) < twins.room || twins_grow());
    if (good) {
        size_t place = twin_place((uintptr_t)name);
        while (twins.table[place].name > 1) place = (place + 1) & (twins.room - 1);
        twins.used += !twins.table[place].name;
        twins.table[place] = (struct twin){ (uintptr_t)name, object };
        object->twin = name;
        atomic_store(&twins.any, true);
    }
    pthread_mutex_unlock(&twins.lock);
    return good;
}

void *mi_object_name(void *pointer)
{
    struct mi_object *object = pointer;
    return object && object->twin ? object->twin : object;
}

void *mi_object_new(enum mi_kind kind, size_t size)
{
    struct pool *pool = &pools[kind];
    pthread_mutex_lock(&pool->lock);
    size = (size + 15) / 16 * 16;
    if (!pool->size) pool->size = size; /* before the first block is seen */
    struct mi_object *object = NULL;
    if (pool->first) {
        object = pool->first;
        pool->first = object->next;
        if (!pool->first) pool->last = NULL;
    } else {
        if (!pool->blocks || pool->used == block_objects(pool->blocks - 1)) {
            char *block = pool->blocks < BLOCKS ? calloc(block_objects(pool->blocks), size) : NULL;
            if (block) {
                atomic_store(&pool->block[pool->blocks], block);
                pool->blocks++;
                pool->used = 0;
            }
        }
        if (pool->blocks && pool->used < block_objects(pool->blocks - 1))
            object = (void *)(pool->block[pool->blocks - 1] + pool->used++ * size);
    }
    if (object) {
        /* All but `live`, which somebody with an old pointer may be reading. */
        memset((char *)object + offsetof(struct mi_object, reserved), 0,
               size - offsetof(struct mi_object, reserved));
        __atomic_store_n(&object->live, (uint32_t)kind + 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&pool->lock);
    return object;
}

void *mi_object(const void *pointer, enum mi_kind kind)
{
    if (!pointer) return NULL;
    struct mi_object *object = NULL;
    const struct pool *pool = &pools[kind];
    for (int i = 0; i < BLOCKS && !object; i++) {
        char *block = atomic_load_explicit(&((struct pool *)pool)->block[i], memory_order_acquire);
        if (!block) break;
        uintptr_t distance = (uintptr_t)pointer - (uintptr_t)block;
        if (distance < block_objects(i) * pool->size)
            object = distance % pool->size == 0 ? (void *)(block + distance) : NULL;
    }
    if (!object && atomic_load(&twins.any)) {
        pthread_mutex_lock(&twins.lock);
        struct twin *twin = twin_find((uintptr_t)pointer);
        object = twin ? twin->object : NULL;
        pthread_mutex_unlock(&twins.lock);
    }
    if (!object || __atomic_load_n(&object->live, __ATOMIC_ACQUIRE) != (uint32_t)kind + 1)
        return NULL;
    return object;
}

void mi_object_delete(void *pointer)
{
    struct mi_object *object = pointer;
    if (object->twin) {
        pthread_mutex_lock(&twins.lock);
        struct twin *twin = twin_find((uintptr_t)object->twin);
        if (twin) *twin = (struct twin){ 1, NULL };
        pthread_mutex_unlock(&twins.lock);
    }
    struct pool *pool = &pools[object->live - 1];
    pthread_mutex_lock(&pool->lock);
    __atomic_store_n(&object->live, 0, __ATOMIC_RELEASE);
    object->next = NULL;
    if (pool->last)
        pool->last->next = object;
    else
        pool->first = object;
    pool->last = object;
    pthread_mutex_unlock(&pool->lock);
}
