// SPDX-License-Identifier: BSD-2-Clause
//
// All object families; one line each.
#ifndef OBJECTS_H
#define OBJECTS_H

#include "endpoint.h"
#include "notification.h"
#include "semaphore.h"

#endif
