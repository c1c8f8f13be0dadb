// SPDX-License-Identifier: BSD-2-Clause
//
// All kinds of objects.
#ifndef OBJECTS_H
#define OBJECTS_H

#include "brand.h"
#include "component.h"
#include "condvar.h"
#include "endpoint.h"
#include "event_set.h"
#include "heap.h"
#include "mutex.h"
#include "notification.h"
#include "queue.h"
#include "semaphore.h"
#include "stack.h"
#include "user_scheduler.h"

#endif
