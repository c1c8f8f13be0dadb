// SPDX-License-Identifier: BSD-2-Clause
//
// What happened beside a visit, from before its first test to behind its last one.
#ifndef LINUX_SURROUNDINGS_H
#define LINUX_SURROUNDINGS_H

#include <cyc/circle.h>

#include "host.h"
#include "linux_circle.h"

// Reads the state before a visit. After counters_open.
void surroundings_begin(const struct linux_circle *self, const struct options *options);
// Writes the `visit` record: what has changed since. Counters that this machine does not show are
// left out.
void surroundings_end(const struct linux_circle *self, const struct options *options,
                      const struct cyc_contract *contract);

#endif
