// SPDX-License-Identifier: BSD-2-Clause
#include "eventlog.h"

#include <cyc/record.h>

#include "string.h"
#include "thread.h"

#if CONFIG_EVENTLOG
#define EVENTS_MAX 256

struct event {
    const char *who, *what, *whom; // whom may be NULL
};

static struct event events[EVENTS_MAX];
static uint64_t events_count;
static int recording;

static void add(const char *who, const char *what, const char *whom)
{
    if (recording && events_count < EVENTS_MAX)
        events[events_count++] = (struct event){who, what, whom};
}

void eventlog_call(const char *what)
{
    add(current->name, what, NULL);
}

void eventlog_kernel(const char *what, const struct thread *thread)
{
    add("kernel", what, thread != NULL ? thread->name : NULL);
}

int64_t eventlog_record(uint64_t on)
{
    if (on)
        events_count = 0;
    recording = on != 0;
    return 0;
}

void eventlog_write(struct cyc_writer *writer, const char *key)
{
    static char text[EVENTS_MAX][64];
    static const char *texts[EVENTS_MAX + 1];
    for (uint64_t i = 0; i < events_count; i++) {
        const char *limit = text[i] + sizeof text[i];
        char *end = string_append(text[i], limit, events[i].who);
        end = string_append(end, limit, ": ");
        end = string_append(end, limit, events[i].what);
        if (events[i].whom != NULL)
            string_append(string_append(end, limit, " "), limit, events[i].whom);
        texts[i] = text[i];
    }
    texts[events_count] = NULL;
    cyc_record_open(writer, "events");
    cyc_record_text(writer, "circle", key);
    cyc_record_texts(writer, "events", texts);
    cyc_record_close(writer);
}
#else
int64_t eventlog_record(uint64_t on)
{
    (void)on;
    return 0;
}
#endif
