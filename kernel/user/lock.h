// SPDX-License-Identifier: BSD-2-Clause
//
// A user-level scheduler's lock: one word, scheduler_page.h's, and no entry into the kernel where
// nobody else wants it. Three ways to change the word as one: code that the kernel restarts when it
// interrupts it, which costs no atomic instruction; load-reserved and store-conditional; and atomic
// memory operations, which know no owner and no waiter.
#ifndef LOCK_H
#define LOCK_H

#include <stdint.h>

#include "objects/scheduler_page.h"

// Each take returns 0, or what the word was where it was not free; `self` is the taker's slot.
// Each release returns 0, or the word where somebody waits: then the lock is not freed,
// SWITCH_LOCK_PASS does it.
uint64_t lock_take_restartable(uint64_t *word, uint64_t self);
uint64_t lock_release_restartable(uint64_t *word);
uint64_t lock_take_reserved(uint64_t *word, uint64_t self);
uint64_t lock_release_reserved(uint64_t *word);
uint64_t lock_take_swap(uint64_t *word, uint64_t self);
uint64_t lock_release_swap(uint64_t *word);

// Tells the kernel where the restartable sections are.
void lock_sections(struct scheduler_page *page);

#endif
