// SPDX-License-Identifier: BSD-2-Clause
#include <cyc/arguments.h>

#define MAGIC 0xd00dfeedu
#define TREE_BYTES_MAX (1u << 20)
#define CHOSEN_DEPTH 2 // the root is 1

enum token { NODE_BEGIN = 1, NODE_END = 2, PROPERTY = 3, NOTHING = 4 };

// Offsets into the blob; every access is below `total`.
struct tree {
    const uint8_t *blob;
    uint32_t total, strings;
};

static uint32_t word_at(const struct tree *tree, uint32_t at)
{
    const uint8_t *b = tree->blob + at;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

// Length of the text at `at`, its NUL excluded, or up to the end of the blob.
static uint32_t length_at(const struct tree *tree, uint32_t at)
{
    uint32_t length = 0;
    while (at + length < tree->total && tree->blob[at + length] != '\0')
        length++;
    return length;
}

static int is_at(const struct tree *tree, uint32_t at, const char *text)
{
    for (; at < tree->total && tree->blob[at] == (uint8_t)*text; at++, text++)
        if (*text == '\0')
            return 1;
    return 0;
}

// The property at `at`, behind its token, if it is a text named bootargs.
static const char *bootargs_at(const struct tree *tree, uint32_t at, uint32_t bytes)
{
    uint32_t name = word_at(tree, at + 4);
    const char *value = (const char *)tree->blob + at + 8;
    // A name is an offset into the block of strings.
    if (name >= tree->total - tree->strings || !is_at(tree, tree->strings + name, "bootargs"))
        return NULL;
    return bytes > 0 && value[bytes - 1] == '\0' ? value : NULL;
}

static const char *walk(const struct tree *tree, uint32_t at)
{
    int depth = 0, chosen = 0;
    while (at + 4 <= tree->total) {
        uint32_t token = word_at(tree, at), left = tree->total - at - 4;
        at += 4;
        if (token == NODE_BEGIN) {
            if (++depth == CHOSEN_DEPTH)
                chosen = is_at(tree, at, "chosen");
            // The name, its NUL, and padding to a word.
            at += (length_at(tree, at) + 4) & ~3u;
        } else if (token == NODE_END) {
            chosen = chosen && depth != CHOSEN_DEPTH;
            depth--;
        } else if (token == PROPERTY && left >= 8 && word_at(tree, at) <= left - 8) {
            uint32_t bytes = word_at(tree, at);
            // Nodes below /chosen may have such a property as well.
            const char *found = chosen ? bootargs_at(tree, at, bytes) : NULL;
            if (found != NULL && depth == CHOSEN_DEPTH)
                return found;
            at += 8 + ((bytes + 3) & ~3u);
        } else if (token != NOTHING) {
            return ""; // the tree's end, or broken
        }
    }
    return "";
}

const char *cyc_arguments_in_devicetree(const void *blob)
{
    struct tree tree = {.blob = blob, .total = 16};
    if (blob == NULL || word_at(&tree, 0) != MAGIC)
        return "";
    uint32_t structure = word_at(&tree, 8);
    // Until here the header alone was read; from now on the blob is as long as it says.
    tree.total = word_at(&tree, 4);
    tree.strings = word_at(&tree, 12);
    if (tree.total > TREE_BYTES_MAX || structure >= tree.total || tree.strings >= tree.total)
        return "";
    return walk(&tree, structure);
}
