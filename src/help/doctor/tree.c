/* tree.c: the decision tree behind the recommendation, and one machine's path through it. */
#include "help/doctor/tree.h"

#include <string.h>

/* Rows of leaves name options of options.c; every option is in one leaf (the tests look). */
const struct doctor_node doctor_tree[] = {
    /* 0 */ { -1, "", "Which GPU is in the machine?", "", "" },
    { 0, "none", "Compute on the CPU", "free; about 10 times the time", "cpu" },
    { 0, "NVIDIA", "PyTorch for CUDA", "free", "cuda-wheel" },
    { 0, "unknown: Windows Subsystem for Linux", "AMD's guide for WSL, or Linux itself", "free",
      "wsl-guide" },
    /* 4 */
    { 0, "AMD", "May programs compute on it: driver, /dev/kfd, slot, groups, libraries?", "", "" },
    { 4, "no", "Cure that first", "free; minutes to an hour",
      "reinstall fix-driver fix-kfd fix-slot fix-access fix-open" },
    /* 6 */ { 4, "yes", "Who has code for the chip?", "", "" },
    /* 7 */
    { 6, "pytorch.org, for it or for a sibling that it can run as", "Is such a PyTorch installed?",
      "", "" },
    { 7, "yes, and nothing is in the way", "Nothing to do", "free", "nothing as-seen" },
    { 7, "yes, but a setting is in the way", "Take the override away, match ROCm, cure settings",
      "free; a minute", "unset-override match-rocm fix-settings use-sibling" },
    { 7, "no", "The wheel for this chip, in an environment of its own", "free; minutes, 4 GB",
      "official-wheel therock-family" },
    /* 11 */ { 6, "native builds only (RDNA1)", "Is a native build installed?", "", "" },
    { 11, "yes", "Keep it; convolutions from RMCP", "free; minutes", "keep-native" },
    { 11, "no", "AMD's TheRock wheel, a distribution's, or your own build, with RMCP",
      "free; minutes to hours", "therock distribution source-build docker" },
    { 11, "there is no way to one", "The wheel repaired, or the override: the last resorts",
      "free; never tried; resets, wrong results", "repair-wheel rocm52 override-last-resort" },
    { 6, "nobody, or ROCm dropped it", "OpenCL, Vulkan, the CPU, builds of others",
      "free; about 10 times the time", "community-gfx803 opencl-cpu vulkan" },
    /* 16 */ { 6, "that is not enough", "Is a GPU needed right now?", "", "" },
    { 16, "yes", "Rent one", "0.50 to 2 $ an hour", "rented-gpu" },
    { 16, "no, with 300 to 800 $", "A newer AMD card: RDNA 3 or 4", "300 to 800 $",
      "other-hardware" },
    { 16, "no, with 800 $ or more, or used", "An NVIDIA card", "300 $ used to 800 $ and more",
      "nvidia-card" },
};
const size_t doctor_n_nodes = sizeof doctor_tree / sizeof *doctor_tree;

bool doctor_leaf_has(const struct doctor_node *node, const char *option)
{
    const size_t length = strlen(option);
    for (const char *at = node->options; *at;) {
        const size_t n = strcspn(at, " ");
        if (n == length && !strncmp(at, option, n)) return true;
        at += n + (at[n] == ' ');
    }
    return false;
}

void doctor_tree_path(const struct doctor_advice *advice, size_t n_advice, bool *on_path)
{
    for (size_t i = 0; i < doctor_n_nodes; i++) on_path[i] = false;
    for (size_t i = 0; i < doctor_n_nodes && n_advice; i++) {
        if (!doctor_leaf_has(&doctor_tree[i], advice[0].option->id)) continue;
        for (int at = (int)i; at >= 0; at = doctor_tree[at].parent) on_path[at] = true;
        return;
    }
}
