// SPDX-License-Identifier: BSD-2-Clause
//
// Circular doubly linked lists with the list itself as sentinel: insertion and removal have no
// branch.
#ifndef LIST_H
#define LIST_H

#include <stddef.h>

struct link {
    struct link *next, *prev;
};

// The structure that holds `member` at `link`.
#define CONTAINER(link, type, member) ((type *)(void *)((char *)(link) - offsetof(type, member)))

static inline void list_init(struct link *list)
{
    list->next = list;
    list->prev = list;
}

static inline int list_empty(const struct link *list)
{
    return list->next == list;
}

static inline void list_insert_before(struct link *place, struct link *link)
{
    struct link *prev = place->prev;
    link->next = place;
    link->prev = prev;
    prev->next = link;
    place->prev = link;
}

static inline void list_append(struct link *list, struct link *link)
{
    list_insert_before(list, link);
}

static inline void list_prepend(struct link *list, struct link *link)
{
    list_insert_before(list->next, link);
}

// The link keeps its old neighbours; if it may be removed twice, call list_init() on it.
static inline void list_remove(struct link *link)
{
    link->next->prev = link->prev;
    link->prev->next = link->next;
}

#endif
