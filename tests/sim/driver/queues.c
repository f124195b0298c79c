/* queues.c: compute queues and what becomes of their kernels. */
#include "driver.h"

#include <dirent.h>
#include <string.h>
#include <time.h>

static unsigned count_threads(void)
{
    unsigned n = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    while (readdir(tasks)) n++;
    closedir(tasks);
    return n;
}

/* A kernel that stores 1 where its argument points to, then never ends. */
static void write_endless_kernel(struct block *b)
{
    static const uint32_t code[] = {
        0xf4040100, 0xfa000000, /* s_load_dwordx2 s[4:5], s[0:1], 0x0 */
        0x7e020280, 0x7e040281, /* v_mov_b32 v1, 0; v_mov_b32 v2, 1 */
        0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
        0xdc708000, 0x00040201, /* global_store_dword v1, v2, s[4:5] */
        0xbf82ffff,             /* s_branch to itself */
    };
    memset(b->host, 0, b->size);
    memcpy(b->host + 256, code, sizeof code);
    memcpy(b->host + 16, &(int64_t){ 256 }, 8);          /* entry, from the descriptor */
    memcpy(b->host + 52, &(uint32_t){ 2 << 1 }, 4);      /* two user SGPRs */
    memcpy(b->host + 56, &(uint16_t){ 8 | 1 << 10 }, 2); /* the argument pointer; wave32 */
}

void a_queue_ends_with_its_kernel(void **state)
{
    (void)state;
    struct block kernel = block(PAGE, KFD_MEMORY_GTT | WRITABLE);
    struct block packets = block(RING_BYTES, KFD_MEMORY_GTT | WRITABLE);
    struct block memory = block(PAGE, KFD_MEMORY_GTT | WRITABLE);
    write_endless_kernel(&kernel);
    memset(memory.host, 0, PAGE);
    struct amd_queue *amd = (struct amd_queue *)(void *)memory.host;
    amd->read_index_offset = offsetof(struct amd_queue, read_index);
    uint64_t *argument = (uint64_t *)(void *)(memory.host + 2048);
    uint32_t *started = (uint32_t *)(void *)(memory.host + 3072);
    *argument = (uint64_t)(uintptr_t)started;
    union aql_packet *packet = (union aql_packet *)(void *)packets.host;
    *packet = (union aql_packet){ .dispatch = { .header = AQL_DISPATCH,
                                                .workgroup = { 64, 1, 1 },
                                                .grid = { 64, 1, 1 },
                                                .kernel = kernel.va,
                                                .kernarg = (uint64_t)(uintptr_t)argument } };
    const unsigned threads = count_threads();
    struct kfd_create_queue q = {
        .ring = packets.va,
        .ring_size = RING_BYTES,
        .read_pointer = (uint64_t)(uintptr_t)&amd->read_index,
        .write_pointer = (uint64_t)(uintptr_t)&amd->write_index,
        .gpu_id = gpu,
        .type = KFD_QUEUE_AQL,
    };
    assert_int_equal(CALL(KFD_CREATE_QUEUE, q), 0);
    __atomic_store_n(&amd->write_index, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(started, __ATOMIC_SEQ_CST))
        nanosleep(&(struct timespec){ 0, 100000 }, NULL);
    assert_true(count_threads() > threads);
    struct kfd_queue_id id = { q.queue_id, 0 };
    assert_int_equal(CALL(KFD_DESTROY_QUEUE, id), 0);
    assert_int_equal(amd->read_index, 0); /* the packet was never done */
    assert_int_equal(count_threads(), threads);
    release(&kernel);
    release(&packets);
    release(&memory);
}
