/* fuzz_repair.c: libFuzzer target: any bytes as a code object, a library, a bundle, an index or a
 * wheel that is repaired: refused, or a result that is whole, carries our note, and stays the same
 * when it is repaired again. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code/codeobj/write.h"
#include "code/codeobj/zip.h"
#include "code/repair/files.h"
#include "code/repair/folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void complain(const char *what)
{
    fprintf(stderr, "wrong: %s: %s\n", what, rmcp_last_error());
    abort();
}

static const char *made;

static void remove_folder(void)
{
    rmdir(made);
}

/* In memory, where that can be had: files are flushed to the disk when they are written. */
static const char *folder(void)
{
    static char name[] = "/dev/shm/rmcp-fuzz-XXXXXX", other[] = "/tmp/rmcp-fuzz-XXXXXX";
    if (made) return made;
    made = mkdtemp(name);
    if (!made) made = mkdtemp(other);
    if (!made || atexit(remove_folder)) complain("no folder");
    return made;
}

static void repair_one(const uint8_t *bytes, size_t size)
{
    struct repair_report report = { .n_files = 0 };
    uint8_t *out = NULL, *again = NULL;
    size_t out_size = 0, again_size = 0;
    struct codeobj *object = NULL;
    const struct repair_code code = { ISA_GFX1010, size % 2 == 1 };
    if (!repair_object(bytes, size, &code, &report, &out, &out_size) && out) {
        if (codeobj_open(out, out_size, &object)) complain("unreadable");
        if (!codeobj_is_repaired(object) || !object->target.chip ||
            strcmp(object->target.chip, "gfx1010"))
            complain("no note, or another chip");
        codeobj_close(object);
        if (repair_object(out, out_size, &code, &report, &again, &again_size) || again)
            complain("repaired again");
    }
    free(out);
    repair_report_deinit(&report);
}

static void check_wheel(const char *path)
{
    struct rmcp_file file;
    struct zip zip;
    if (rmcp_file_map(AT_FDCWD, path, &file)) return;
    if (zip_open(&zip, file.bytes, file.size)) complain("no zip file");
    for (uint64_t i = 0; i < zip.n; i++) {
        struct zip_member member;
        struct spool spool;
        const uint8_t *contents;
        if (zip_next(&zip, &member) ||
            zip_extract(&zip, &member, member.uncompressed + 1, &spool, &contents))
            complain("a member");
        spool_deinit(&spool);
    }
    rmcp_file_unmap(&file);
}

/* A file of this name, with its suffix, through all of the command. */
static void repair_named(const uint8_t *bytes, size_t size, const char *suffix, uint32_t jobs)
{
    char from[256], to[256], again[256];
    struct repair_report report = { .n_files = 0 };
    const struct repair_options options = { .target = ISA_GFX1010, .jobs = jobs };
    snprintf(from, sizeof from, "%s/in%s", folder(), suffix);
    snprintf(to, sizeof to, "%s/out%s", folder(), suffix);
    snprintf(again, sizeof again, "%s/again%s", folder(), suffix);
    FILE *file = fopen(from, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file)) complain("no file");
    if (!repair_path(from, to, &options, &report) && !access(to, F_OK)) {
        if (!strcmp(suffix, ".whl")) check_wheel(to);
        struct repair_report more = { .n_files = 0 };
        if (repair_path(to, again, &options, &more)) complain("not again");
        if (more.n_repaired > report.n_refused_objects) complain("repaired again");
        repair_report_deinit(&more);
    }
    repair_report_deinit(&report);
    unlink(from);
    unlink(to);
    unlink(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 4) return 0;
    if (!memcmp(bytes, "PK\3\4", 4)) {
        repair_named(bytes, size, ".whl", 1 + size % 2);
    } else if (size > 20 && !memcmp(bytes, "\177ELF", 4) && bytes[18] == 224) {
        repair_one(bytes, size);
    } else {
        repair_named(bytes, size, bytes[0] < 0x80 ? ".so" : ".dat", 1 + size % 2);
    }
    return 0;
}
