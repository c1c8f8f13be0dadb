// SPDX-License-Identifier: BSD-2-Clause
//
// All circles that were linked into this harness.
#ifndef LINUX_REGISTRY_H
#define LINUX_REGISTRY_H

#include "linux_circle.h"

// Sorts the circles by file and then by line, those in `more` (which ends with NULL) included, and
// checks them; once, before the other functions. NULL, or a sentence that names the circle that
// cannot be used and why. If the scheduler is `fair`, circles that need priorities are left out,
// and contracts of several threads hold what it guarantees.
const char *registry_prepare(const struct registered_circle *const *more, int fair);
// Every circle in that order; ends with NULL.
const struct registered_circle *const *registry_circles(void);
// The circle with this key, or NULL.
const struct registered_circle *registry_find(const char *key);
// Its contract, as records carry it.
struct cyc_contract registry_contract(const struct registered_circle *circle);

#endif
