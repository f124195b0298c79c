/* doctor_svg.c: the decision tree as a picture, with one machine's path through it. */
#include "command/doctor_html.h"

#include <stdlib.h>
#include <string.h>

#include "command/page.h"
#include "help/doctor/tree.h"

enum { WIDTH = 380, INDENT = 15, MARGIN = 2, PADDING = 8, LINE = 16, GAP = 8, MOST_LINES = 8 };

struct box {
    int x, y, width, height, n_lines;
    struct {
        const char *start;
        size_t length;
        char kind; /* 'a': the answer that leads here, 't': the text, 'c': the cost, 'w': ways */
    } lines[MOST_LINES];
    char ways[96];
};

static int depth_of(const struct doctor_node *node)
{
    int depth = 0;
    for (int at = node->parent; at >= 0; at = doctor_tree[at].parent) depth++;
    return depth;
}

/* Lines of at most as many characters as fit; the texts of the tree are plain ASCII. */
static void wrap(struct box *box, const char *text, char kind)
{
    const size_t room = (size_t)(box->width - 2 * PADDING) * 10 / (kind == 't' ? 70 : 62);
    while (*(text += strspn(text, " ")) && box->n_lines < MOST_LINES) {
        size_t length = strlen(text);
        if (length > room) {
            length = room;
            while (length && text[length] != ' ') length--;
            if (!length) length = room;
        }
        box->lines[box->n_lines].start = text;
        box->lines[box->n_lines].length = length;
        box->lines[box->n_lines++].kind = kind;
        text += length;
    }
}

/* "way 1", "ways 2, 3": which of the recommended ways end in this leaf. */
static void find_ways(const struct doctor_report *report, const struct doctor_node *node,
                      char ways[static 96])
{
    int n = 0;
    size_t used = 0;
    ways[0] = '\0';
    for (size_t i = 0; i < report->n_advice && used < 80; i++)
        if (report->advice[i].option->leaf == node - doctor_tree)
            used += (size_t)snprintf(ways + used, 96 - used, "%s%zu", n++ ? ", " : "way ", i + 1);
}

static int lay_out(const struct doctor_report *report, struct box *boxes)
{
    int y = MARGIN;
    for (size_t i = 0; i < DOCTOR_PLACES; i++) {
        const struct doctor_node *node = &doctor_tree[i];
        struct box *box = &boxes[i];
        box->x = MARGIN + INDENT * depth_of(node);
        box->y = y;
        box->width = WIDTH - MARGIN - box->x;
        find_ways(report, node, box->ways);
        wrap(box, node->answer, 'a');
        wrap(box, node->text, 't');
        wrap(box, node->cost, 'c');
        wrap(box, box->ways, 'w');
        box->height = LINE * box->n_lines + PADDING;
        y += box->height + GAP;
    }
    return y;
}

static void draw_link(FILE *out, const struct box *from, const struct box *to, const char *class)
{
    const int x = from->x + INDENT / 2, y = to->y + PADDING + LINE / 2;
    fprintf(out, "<path class=\"%s\" d=\"M%d %dV%dH%d\"/>\n", class, x, from->y + from->height, y,
            to->x);
}

static void draw_box(FILE *out, const struct box *box, const char *class)
{
    fprintf(out, "<g class=\"%s\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"5\"/>",
            class, box->x, box->y, box->width, box->height);
    for (int i = 0; i < box->n_lines; i++) {
        char text[128];
        snprintf(text, sizeof text, "%.*s", (int)box->lines[i].length, box->lines[i].start);
        fprintf(out, "<text class=\"%c\" x=\"%d\" y=\"%d\">", box->lines[i].kind, box->x + PADDING,
                box->y + PADDING / 2 + LINE * i + 12);
        cli_page_text(out, text);
        fprintf(out, "</text>");
    }
    fprintf(out, "</g>\n");
}

void doctor_html_tree(FILE *out, const struct doctor_report *report)
{
    struct box *boxes = calloc(DOCTOR_PLACES, sizeof *boxes);
    bool *on_path = calloc(DOCTOR_PLACES, sizeof *on_path);
    if (boxes && on_path) {
        const int height = lay_out(report, boxes);
        doctor_tree_path(report->advice, report->n_advice, on_path);
        fprintf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" "
                "aria-label=\"decision tree, the way of this machine marked\">\n",
                WIDTH, height);
        for (int pass = 0; pass < 2; pass++) /* the path on top of the others */
            for (size_t i = 1; i < DOCTOR_PLACES; i++)
                if (on_path[i] == (pass == 1))
                    draw_link(out, &boxes[doctor_tree[i].parent], &boxes[i], pass ? "on" : "off");
        for (size_t i = 0; i < DOCTOR_PLACES; i++)
            draw_box(out, &boxes[i], on_path[i] ? "on" : *boxes[i].ways ? "also" : "off");
        fprintf(out, "</svg>\n");
    }
    free(boxes);
    free(on_path);
}
