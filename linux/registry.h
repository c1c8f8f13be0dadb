// SPDX-License-Identifier: BSD-2-Clause
//
// All circles that were linked into this harness.
#ifndef LINUX_REGISTRY_H
#define LINUX_REGISTRY_H

#include "host.h"
#include "linux_circle.h"

// Makes of each circle that can be so one of two CPUs, sorts all by file and then by line, those in
// `more` (which ends with NULL) included, and checks them; once, before the other functions. NULL,
// or a sentence that names the circle that cannot be used and why. If the scheduler is a fair one,
// circles that need priorities are left out, and contracts of several threads hold what it
// guarantees; circles of two CPUs are left out unless the options name another CPU or none.
const char *registry_prepare(const struct registered_circle *const *more,
                             const struct options *options);
// Every circle in that order; ends with NULL.
const struct registered_circle *const *registry_circles(void);
// The circle with this key, or NULL.
const struct registered_circle *registry_find(const char *key);
// Its contract, as records carry it.
struct cyc_contract registry_contract(const struct registered_circle *circle);

#endif
