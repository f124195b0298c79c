// chip_names.h: asks for a chip by its card's name, as libraries do that choose the sizes of their
// kernels by it.
#ifndef RMCP_TESTS_CHIP_NAMES_H
#define RMCP_TESTS_CHIP_NAMES_H

namespace rocprim
{
using size = decltype(sizeof 0);

constexpr bool is_called(const char *text, const char *name, size length)
{
    size i = 0;
    for (; i < length && *name != '\0' && text[i] == *name; i++) name++;
    return i == length && *name == '\0';
}

// 0: another one. "gfx1010:xnack-" is gfx1010.
__attribute__((noinline)) inline unsigned chip_by_name(const char *text)
{
    constexpr const char *names[] = { "gfx803", "gfx900",  "gfx906",  "gfx908",
                                      "gfx90a", "gfx1030", "gfx1100", "gfx1102" };
    constexpr unsigned chips[] = { 803, 900, 906, 908, 910, 1030, 1100, 1102 };
    size length = 0;
    while (text[length] != '\0' && text[length] != ':') length++;
    for (size i = 0; i < sizeof chips / sizeof *chips; i++)
        if (is_called(text, names[i], length)) return chips[i];
    return 0;
}
} // namespace rocprim

#endif
