// SPDX-License-Identifier: BSD-2-Clause
//
// The record writer: lines of text `@cyc {JSON} *crc32`, described in FORMAT.md.
// Needs no buffer; every byte goes out through `put`.
#ifndef CYC_RECORD_H
#define CYC_RECORD_H

#include <stddef.h>
#include <stdint.h>

#define CYC_SCHEMA 1

struct cyc_writer {
    void (*put)(void *context, const char *bytes, size_t length); // called in order, any lengths
    void *context;
    uint64_t records; // lines closed so far; the next line's "seq"
    uint64_t values;  // measured values written so far (groups, passes, overheads)
    uint32_t crc;     // of the open line
    int first;        // no member written yet at this level
};

// CRC-32 (ISO 3309, as zlib): crc of `bytes` continued from `crc`; start with 0.
uint32_t cyc_crc32(uint32_t crc, const char *bytes, size_t length);

// A line: open with its kind, write members, close. Names and texts are escaped as JSON needs.
void cyc_record_open(struct cyc_writer *w, const char *kind);
void cyc_record_text(struct cyc_writer *w, const char *name, const char *text);
void cyc_record_int(struct cyc_writer *w, const char *name, int64_t value);
void cyc_record_object_open(struct cyc_writer *w, const char *name);
void cyc_record_object_close(struct cyc_writer *w);
// `texts` ends with NULL.
void cyc_record_texts(struct cyc_writer *w, const char *name, const char *const *texts);
// `count` integers, `stride` bytes apart, the first at `values`.
void cyc_record_ints(struct cyc_writer *w, const char *name, const int64_t *values, size_t count,
                     size_t stride);
void cyc_record_close(struct cyc_writer *w);

// Whole lines that every target writes the same way.
struct cyc_clock;
struct cyc_circle;
struct cyc_flow;
struct cyc_param;

// What a stream says about the machine it comes from, in its first line. Texts are ASCII.
struct cyc_hello {
    const char *target; // kernel and machine in a word, e.g. "sel4-virt"
    const char *kernel; // version of the kernel, for people
    // Options of the kernel, e.g. {"mcs", "on"}, and how it was compiled. Lists end with {0} and
    // may be NULL. Rows of different target or configuration are not compared unless asked for.
    const struct cyc_param *configuration, *build;
    // The clock's reading that every `at` counts from, if all runs share the clock; 0 if they do
    // not, as after a boot each.
    uint64_t origin;
    uint64_t origin_ns; // the host's raw monotonic clock at the origin; 0 if it has none
    // Core cycles of the chain before and after each test; 0 if there is none.
    uint64_t chain_cycles;
};
void cyc_record_hello(struct cyc_writer *w, const struct cyc_clock *clock,
                      const struct cyc_hello *hello, uint32_t run);
// The member `clock` of an open hello, for a host that writes more than struct cyc_hello holds.
void cyc_record_clock(struct cyc_writer *w, const struct cyc_clock *clock);
void cyc_record_circle(struct cyc_writer *w, const struct cyc_circle *circle, const char *method,
                       const struct cyc_flow *flow);
// `reason` is a sentence for the reader.
void cyc_record_failed(struct cyc_writer *w, const char *key, const char *reason);
void cyc_record_skipped(struct cyc_writer *w, const char *key, const char *reason);
void cyc_record_end(struct cyc_writer *w);

#endif
