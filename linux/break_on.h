// SPDX-License-Identifier: BSD-2-Clause
//
// Stops the kernel's trace at the first test that takes longer than --break-on says, as
// cyclictest -b does. Of circles that time one way, by single passes.
#ifndef LINUX_BREAK_ON_H
#define LINUX_BREAK_ON_H

#include <cyc/flow.h>

#include "host.h"

// Has the rig watch the circle's tests if --break-on was given and the visit is of single passes.
void break_on_watch(struct cyc_rig *rig, struct cyc_circle *circle, const struct options *options);

#endif
