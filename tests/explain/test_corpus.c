/* test_corpus.c: scores explain on the public reports of corpus/ (README.md there), one half at a
 * time.
 *
 * usage: test_corpus FOLDER open|blind [MOST-NOT-RIGHT]
 *
 * Prints a line for each answer that is not right, and the sums. The exit status is 0 when no
 * answer is wrong and at most MOST-NOT-RIGHT (default: any number) are not right. */
#include "help/explain/explain.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum verdict { RIGHT, PARTLY, MISSED, WRONG, N_VERDICTS };
static const char *const verdicts[] = { "right", "partly", "missed", "wrong" };

/* The header of a report. */
struct report {
    char address[256], text[128], gpu[128], override[32], chip[32], must[256], may[256], never[256];
    char conv[8], foreign[8];
};

static struct explain_result result;

static bool has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || strchr(" |", at[-1])) && (!at[length] || strchr(" |", at[length])))
            return true;
    return false;
}

/* Is the unknown error, which the answer quotes, of this class? */
static bool quoted(const char *id, size_t length)
{
    const struct explain_signature *about = result.unknown.about;
    return about && strlen(about->id) == length && !strncmp(about->id, id, length);
}

static bool found(const char *id, size_t length)
{
    if (quoted(id, length)) return true;
    for (size_t i = 0; i < result.n_matches; i++)
        if (strlen(result.matches[i].signature->id) == length &&
            !strncmp(result.matches[i].signature->id, id, length))
            return true;
    return false;
}

/* How many words of `list` are among the findings; each word may be several, one of which will do.
 */
static size_t count_found(const char *list, size_t *n_words)
{
    size_t n = 0;
    *n_words = 0;
    while (*list) {
        bool one = false;
        for (;;) {
            const size_t length = strcspn(list, " |");
            one |= found(list, length);
            list += length;
            if (*list != '|') break;
            list++;
        }
        n += one;
        ++*n_words;
        while (*list == ' ') list++;
    }
    return n;
}

static bool leads_to_rmcp(void)
{
    if (result.convolution) return true;
    for (size_t i = 0; i < result.n_matches; i++)
        if (strstr(explain_remedy(&result, &result.matches[i]), "rmcp.torch.enable")) return true;
    return false;
}

static enum verdict judge(const struct report *r)
{
    size_t n_must, n_never;
    const size_t n_found = count_found(r->must, &n_must);
    const char *about = result.unknown.about ? result.unknown.about->id : "";
    const bool fits =
        *about && !result.unknown.behind && (has_word(r->must, about) || has_word(r->may, about));
    if (*r->never && count_found(r->never, &n_never)) return WRONG;
    if (*r->chip && *result.card.chip && strcmp(result.card.chip, r->chip)) return WRONG;
    if (result.n_matches && !fits) {
        const char *first = result.matches[0].signature->id;
        if (!has_word(r->must, first) && !has_word(r->may, first)) return WRONG;
    }
    const bool rest = (!*r->chip || *result.card.chip) && (!*r->conv || leads_to_rmcp()) &&
                      (!*r->foreign || result.foreign);
    if (n_found == n_must && rest) return RIGHT;
    return n_found || fits || result.n_matches ? PARTLY : MISSED;
}

static bool take(const char *line, const char *key, char *value, size_t size)
{
    const size_t length = strlen(key);
    if (strncmp(line, key, length) || strncmp(line + length, ": ", 2)) return false;
    line += length + 2;
    const size_t rest = strcspn(line, "\n");
    if (rest >= size) return false;
    memcpy(value, line, rest);
    value[rest] = '\0';
    return true;
}

/* The header into `*r`; the file is left at the text behind it. */
static bool read_header(FILE *file, struct report *r)
{
    char line[512];
    memset(r, 0, sizeof *r);
    while (fgets(line, sizeof line, file)) {
        if (!strcmp(line, "---\n")) return *r->must && *r->address;
        const bool known = take(line, "address", r->address, sizeof r->address) ||
                           take(line, "text", r->text, sizeof r->text) ||
                           take(line, "gpu", r->gpu, sizeof r->gpu) ||
                           take(line, "override", r->override, sizeof r->override) ||
                           take(line, "chip", r->chip, sizeof r->chip) ||
                           take(line, "must", r->must, sizeof r->must) ||
                           take(line, "may", r->may, sizeof r->may) ||
                           take(line, "never", r->never, sizeof r->never) ||
                           take(line, "conv", r->conv, sizeof r->conv) ||
                           take(line, "foreign", r->foreign, sizeof r->foreign);
        if (!known) return false;
    }
    return false;
}

static void show(const char *name, const struct report *r, enum verdict verdict)
{
    printf("%s %s: must %s%s%s%s%s; answer:", name, verdicts[verdict], r->must,
           *r->chip ? ", chip " : "", r->chip, *r->conv ? ", conv" : "",
           *r->foreign ? ", foreign" : "");
    for (size_t i = 0; i < result.n_matches; i++) printf(" %s", result.matches[i].signature->id);
    printf("%s%s%s%s (%s)\n", result.n_matches ? "" : " nothing",
           result.unknown.about ? ", unknown, about " : "",
           result.unknown.about ? result.unknown.about->id : "",
           result.unknown.behind ? ", behind" : "",
           *result.card.chip ? result.card.chip : "no chip");
}

static bool score(const char *folder, const char *name, size_t counts[static N_VERDICTS])
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    struct report r;
    bool ok = file && read_header(file, &r);
    memset(&result, 0, sizeof result);
    bool known = ok && (!*r.gpu || !explain_set_chip(&result.card, r.gpu));
    known = known && (!*r.override || !explain_set_override(&result.card, r.override));
    const long at = ok ? ftell(file) : -1;
    ok = ok && at >= 0 && lseek(fileno(file), at, SEEK_SET) == at &&
         !explain_read(fileno(file), &result, NULL, NULL);
    if (file) fclose(file);
    if (!ok) {
        fprintf(stderr, "%s: no report\n", path);
        return false;
    }
    enum verdict verdict = judge(&r);
    if (!known && verdict == RIGHT) verdict = PARTLY; /* the card's name was not understood */
    counts[verdict]++;
    if (verdict != RIGHT) show(name, &r, verdict);
    return true;
}

static bool is_blind(const char *folder, const char *name)
{
    char path[1024], line[64];
    snprintf(path, sizeof path, "%s/blind", folder);
    FILE *file = fopen(path, "r");
    bool blind = false;
    while (file && !blind && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        blind = !strcmp(line, name);
    }
    if (file) fclose(file);
    return blind;
}

static int is_report(const struct dirent *entry)
{
    return entry->d_name[0] >= '0' && entry->d_name[0] <= '9';
}

int main(int argc, char **argv)
{
    const bool blind = argc > 2 && !strcmp(argv[2], "blind");
    if (argc < 3 || (!blind && strcmp(argv[2], "open"))) {
        fprintf(stderr, "usage: test_corpus FOLDER open|blind [MOST-NOT-RIGHT]\n");
        return 2;
    }
    struct dirent **entries;
    const int n = scandir(argv[1], &entries, is_report, alphasort);
    size_t counts[N_VERDICTS] = { 0 }, total = 0;
    bool ok = n > 0;
    for (int i = 0; i < n; i++) {
        if (is_blind(argv[1], entries[i]->d_name) == blind) {
            ok &= score(argv[1], entries[i]->d_name, counts);
            total++;
        }
        free(entries[i]);
    }
    if (n > 0) free(entries);
    printf("%s half: %zu reports: %zu right, %zu partly, %zu missed, %zu wrong\n", argv[2], total,
           counts[RIGHT], counts[PARTLY], counts[MISSED], counts[WRONG]);
    const size_t most = argc > 3 ? (size_t)strtoul(argv[3], NULL, 10) : total;
    return ok && total && !counts[WRONG] && total - counts[RIGHT] <= most ? 0 : 1;
}
