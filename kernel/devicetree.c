// SPDX-License-Identifier: BSD-2-Clause
#include "devicetree.h"

#include "memlayout.h"
#include "string.h"

#define MAGIC 0xd00dfeed
#define TREE_BYTES_MAX (1 << 20)

enum token { NODE_BEGIN = 1, NODE_END = 2, PROPERTY = 3, NOTHING = 4, TREE_END = 9 };

static uint32_t read32(const char *at)
{
    const unsigned char *b = (const unsigned char *)at;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static uint64_t read64(const char *at)
{
    return (uint64_t)read32(at) << 32 | read32(at + 4);
}

static int begins(const char *text, const char *start)
{
    return memcmp(text, start, strlen(start)) == 0;
}

// `node` is the top-level node that the property is in, "" for the root.
static void take_property(struct devicetree *tree, const char *node, const char *name,
                          const char *value, uint32_t bytes)
{
    if (strcmp(node, "chosen") == 0 && strcmp(name, "bootargs") == 0 && bytes > 0 &&
        value[bytes - 1] == '\0')
        tree->bootargs = value;
    else if (strcmp(node, "cpus") == 0 && strcmp(name, "timebase-frequency") == 0 && bytes == 4)
        tree->timebase_hz = read32(value);
    else if (begins(node, "memory@") && strcmp(name, "reg") == 0 && bytes >= 16 &&
             read64(value) == RAM_BASE)
        tree->ram_end = RAM_BASE + read64(value + 8);
}

// Walks the structure block [at, end); 1 at its end token, 0 if it is broken.
static int walk(struct devicetree *tree, const char *at, const char *end, const char *names,
                const char *names_end)
{
    const char *node = "";
    int depth = 0;
    while (at + 4 <= end) {
        uint32_t token = read32(at);
        at += 4;
        if (token == NODE_BEGIN) {
            if (++depth == 2)
                node = at;
            at += (strlen(at) + 4) & ~3UL;
        } else if (token == NODE_END) {
            if (depth-- == 2)
                node = "";
        } else if (token == PROPERTY && at + 8 <= end) {
            uint32_t bytes = read32(at), name = read32(at + 4);
            if (bytes > (uint64_t)(end - at - 8) || name >= (uint64_t)(names_end - names))
                return 0;
            if (depth <= 2)
                take_property(tree, node, names + name, at + 8, bytes);
            at += 8 + ((bytes + 3) & ~3u);
        } else if (token != NOTHING) {
            return token == TREE_END;
        }
    }
    return 0;
}

int devicetree_read(const void *blob, struct devicetree *tree)
{
    const char *base = blob;
    *tree = (struct devicetree){.bootargs = ""};
    if (base == NULL || read32(base) != MAGIC)
        return -1;
    uint32_t total = read32(base + 4), structure = read32(base + 8), names = read32(base + 12);
    if (total > TREE_BYTES_MAX || structure >= total || names >= total)
        return -1;
    if (!walk(tree, base + structure, base + total, base + names, base + total))
        return -1;
    return tree->ram_end != 0 && tree->timebase_hz != 0 ? 0 : -1;
}
