/* sequence: MIOpen called as its clients call it; writes records and what was computed, for
 * comparisons. */
#include "sequence.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char usage[] =
    "usage: sequence [--together] LIBRARY FOLDER [PATTERN…]\n"
    "  --together  all in one process, as a client has it; each in its own otherwise\n"
    "  LIBRARY  libMIOpen.so.1, ours or another\n"
    "  FOLDER   exists; gets the file 'records' and the raw bytes CLIENT.CASE.PASS.TENSOR. "
    "Sequences that it\n"
    "           has a record of are not run again\n"
    "  PATTERN  which CLIENT/CASE/PASS to run, as file names: 'torch-*/plain*/forward'; '!…' "
    "leaves out;\n"
    "           default all\n"
    "Memory is HIP's, or the host's with RMCP_DEVICE=cpu. RMCP_SEQUENCE_SECONDS limits each "
    "sequence (120).\n"
    "RMCP_SEQUENCE_NETS=N[:SEED] adds N random recurrent networks, random-SEED and so on.\n";

static const char *library;
static char **patterns;
static int n_patterns;
static char *done; /* the records that were there, as one text */
static unsigned limit_seconds = 120;
static bool together;
static int n_run, n_died;

static bool recorded(const char *client, const char *name, const char *pass)
{
    char words[512];
    snprintf(words, sizeof words, " client=%s case=%s pass=%s ", client, name, pass);
    return done && strstr(done, words);
}

static bool selected(const char *client, const char *name, const char *pass)
{
    char path[512];
    bool takes = true, first = true;
    snprintf(path, sizeof path, "%s/%s/%s", client, name, pass);
    for (int i = 0; i < n_patterns; i++) {
        bool without = patterns[i][0] == '!';
        if (first) takes = without;
        first = false;
        if (fnmatch(patterns[i] + without, path, 0) == 0) takes = !without;
    }
    return takes && !recorded(client, name, pass);
}

/* In this process. */
static void run_here(const struct sequence *sequence)
{
    static bool loaded;
    record_begin(sequence->kind, sequence->client, sequence->name, sequence->pass);
    if (!loaded && !world_load(library, world.folder)) exit(3);
    loaded = true;
    miopenStatus_t status = world.handle ? miopenStatusSuccess : world_open();
    if (status == miopenStatusSuccess)
        sequence->body(sequence->what);
    else
        record_note("open=%d", (int)status);
    record_end();
}

/* In a child, and its end in the record. */
static void run_apart(const struct sequence *sequence)
{
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) {
        perror("sequence: fork");
        exit(3);
    }
    if (child == 0) {
        alarm(limit_seconds);
        run_here(sequence);
        /* As clients end: the destructors of HIP and MIOpen run. */
        exit(0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (status == 0) return;
    n_died++;
    const char *how = WIFSIGNALED(status) ? "signal" : "exit";
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    fprintf(stderr, "sequence: died: %s %d\n", how, number);
    if (!record_open()) record_begin("died", sequence->client, sequence->name, sequence->pass);
    record_note("died=%s%d", how, number);
    record_end();
}

void sequence_run(const struct sequence *sequence, bool alone)
{
    if (!selected(sequence->client, sequence->name, sequence->pass)) return;
    n_run++;
    if (alone || !together)
        run_apart(sequence);
    else
        run_here(sequence);
}

static void read_done(void)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/records", world.folder);
    FILE *file = fopen(path, "rb");
    if (!file) return;
    fseek(file, 0, SEEK_END);
    long bytes = ftell(file);
    rewind(file);
    done = malloc((size_t)bytes + 1);
    if (done) done[fread(done, 1, (size_t)bytes, file)] = 0;
    fclose(file);
}

int main(int argc, char **argv)
{
    together = argc > 1 && strcmp(argv[1], "--together") == 0;
    argc -= together;
    argv += together;
    if (argc < 3) {
        fputs(usage, stderr);
        return 2;
    }
    library = argv[1];
    world.folder = argv[2];
    patterns = argv + 3;
    n_patterns = argc - 3;
    const char *seconds = getenv("RMCP_SEQUENCE_SECONDS");
    if (seconds) limit_seconds = (unsigned)strtoul(seconds, NULL, 10);
    read_done();
    if (!record_share()) return 3;
    /* Before this process has a device. */
    hostile_sequences();
    conv_sequences();
    norm_sequences();
    tensor_sequences();
    pool_sequences();
    rnn_sequences();
    fusion_sequences();
    softmax_problem_sequences();
    mha_sequences();
    free(done);
    fprintf(stderr, "sequence: %d sequences, %d died\n", n_run, n_died);
    return 0;
}
