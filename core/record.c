// SPDX-License-Identifier: BSD-2-Clause
#include "record.h"

#include "circle.h"
#include "clock.h"

// Nibble table of the reflected polynomial 0xedb88320: 64 bytes instead of 1 KiB, and
// records are written between tests where speed does not matter.
static const uint32_t crc_nibble[16] = {
    0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};

uint32_t cyc_crc32(uint32_t crc, const char *bytes, size_t length)
{
    crc = ~crc;
    for (size_t i = 0; i < length; i++) {
        crc ^= (uint8_t)bytes[i];
        crc = crc_nibble[crc & 15] ^ (crc >> 4);
        crc = crc_nibble[crc & 15] ^ (crc >> 4);
    }
    return ~crc;
}

// Bytes inside the JSON object count for the checksum; the frame around it does not.
static void put(struct cyc_writer *w, const char *bytes, size_t length)
{
    w->crc = cyc_crc32(w->crc, bytes, length);
    w->put(w->context, bytes, length);
}

static size_t text_length(const char *text)
{
    size_t length = 0;
    while (text[length] != '\0')
        length++;
    return length;
}

static void put_text(struct cyc_writer *w, const char *text)
{
    put(w, text, text_length(text));
}

static void put_hex(struct cyc_writer *w, uint32_t value, int digits,
                    void (*out)(struct cyc_writer *, const char *, size_t))
{
    char text[8];
    for (int i = digits - 1; i >= 0; i--, value >>= 4)
        text[i] = "0123456789abcdef"[value & 15];
    out(w, text, (size_t)digits);
}

static void put_escaped(struct cyc_writer *w, char c)
{
    char pair[2] = {'\\', c};
    if (c == '"' || c == '\\') {
        put(w, pair, 2);
    } else if ((uint8_t)c < 0x20) {
        put_text(w, "\\u");
        put_hex(w, (uint8_t)c, 4, put);
    } else {
        put(w, &c, 1);
    }
}

static void put_quoted(struct cyc_writer *w, const char *text)
{
    put_text(w, "\"");
    for (; *text != '\0'; text++)
        put_escaped(w, *text);
    put_text(w, "\"");
}

static void put_int(struct cyc_writer *w, int64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        digits[--at] = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (value < 0)
        put_text(w, "-");
    put(w, digits + at, sizeof digits - at);
}

static void put_name(struct cyc_writer *w, const char *name)
{
    if (!w->first)
        put_text(w, ",");
    w->first = 0;
    put_quoted(w, name);
    put_text(w, ":");
}

void cyc_record_open(struct cyc_writer *w, const char *kind)
{
    w->put(w->context, "@cyc ", 5);
    w->crc = 0;
    w->first = 1;
    put_text(w, "{");
    cyc_record_text(w, "kind", kind);
    cyc_record_int(w, "seq", (int64_t)w->records);
}

void cyc_record_text(struct cyc_writer *w, const char *name, const char *text)
{
    put_name(w, name);
    put_quoted(w, text);
}

void cyc_record_int(struct cyc_writer *w, const char *name, int64_t value)
{
    put_name(w, name);
    put_int(w, value);
}

void cyc_record_object_open(struct cyc_writer *w, const char *name)
{
    put_name(w, name);
    put_text(w, "{");
    w->first = 1;
}

void cyc_record_object_close(struct cyc_writer *w)
{
    put_text(w, "}");
    w->first = 0;
}

void cyc_record_texts(struct cyc_writer *w, const char *name, const char *const *texts)
{
    put_name(w, name);
    put_text(w, "[");
    for (size_t i = 0; texts[i] != NULL; i++) {
        if (i > 0)
            put_text(w, ",");
        put_quoted(w, texts[i]);
    }
    put_text(w, "]");
}

void cyc_record_ints(struct cyc_writer *w, const char *name, const int64_t *values, size_t count, size_t stride)
{
    put_name(w, name);
    put_text(w, "[");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            put_text(w, ",");
        put_int(w, *(const int64_t *)(const void *)((const char *)values + i * stride));
    }
    put_text(w, "]");
}

static void put_frame(struct cyc_writer *w, const char *bytes, size_t length)
{
    w->put(w->context, bytes, length);
}

void cyc_record_close(struct cyc_writer *w)
{
    put_text(w, "}");
    put_frame(w, " *", 2);
    put_hex(w, w->crc, 8, put_frame);
    put_frame(w, "\n", 1);
    w->records++;
}

void cyc_record_clock(struct cyc_writer *w, const struct cyc_clock *clock)
{
    cyc_record_object_open(w, "clock");
    cyc_record_text(w, "name", clock->name);
    cyc_record_text(w, "unit", clock->unit);
    cyc_record_int(w, "hz", (int64_t)clock->hz);
    put_name(w, "exact");
    put_text(w, clock->exact ? "true" : "false");
    cyc_record_object_close(w);
}

static void put_contract(struct cyc_writer *w, const struct cyc_contract *contract)
{
    cyc_record_object_open(w, "contract");
    cyc_record_text(w, "key", contract->key);
    cyc_record_text(w, "title", contract->title);
    cyc_record_texts(w, "sequence", contract->sequence);
    cyc_record_object_open(w, "interval");
    cyc_record_text(w, "kind", contract->interval);
    cyc_record_text(w, "from", contract->from);
    cyc_record_text(w, "to", contract->to);
    cyc_record_object_close(w);
    cyc_record_object_open(w, "expect");
    for (const struct cyc_expect *e = contract->expect; e->counter != NULL; e++)
        cyc_record_int(w, e->counter, e->per_turn);
    cyc_record_object_close(w);
    cyc_record_object_open(w, "params");
    for (const struct cyc_param *p = contract->params; p != NULL && p->name != NULL; p++)
        cyc_record_text(w, p->name, p->value);
    cyc_record_object_close(w);
    cyc_record_text(w, "correction", contract->correction);
    cyc_record_object_close(w);
}

void cyc_record_circle(struct cyc_writer *w, const struct cyc_circle *circle, const char *method,
                       const struct cyc_flow *flow)
{
    cyc_record_open(w, "circle");
    put_contract(w, circle->contract);
    cyc_record_text(w, "method", method);
    cyc_record_object_open(w, "flow");
    cyc_record_int(w, "initial", flow->initial);
    cyc_record_int(w, "delta", flow->delta);
    cyc_record_int(w, "groups", flow->groups);
    cyc_record_int(w, "tests", flow->tests);
    cyc_record_object_close(w);
    cyc_record_close(w);
}

void cyc_record_failed(struct cyc_writer *w, const char *key, const char *reason)
{
    cyc_record_open(w, "failed");
    cyc_record_text(w, "circle", key);
    cyc_record_text(w, "reason", reason);
    cyc_record_close(w);
}

void cyc_record_end(struct cyc_writer *w)
{
    cyc_record_open(w, "end");
    cyc_record_int(w, "records", (int64_t)w->records);
    cyc_record_int(w, "values", (int64_t)w->values);
    cyc_record_close(w);
}
