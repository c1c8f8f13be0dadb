// SPDX-License-Identifier: BSD-2-Clause
#include <cyc/record.h>

#include <cyc/circle.h>
#include <cyc/clock.h>

// Byte table of the reflected polynomial 0xedb88320. Records are written between tests, but on a
// simulated core most of a measurement's time goes by there.
static const uint32_t crc_byte[256] = {
    0x00000000, 0x77073096, 0xee0e612c, 0x990951ba, 0x076dc419, 0x706af48f, 0xe963a535, 0x9e6495a3,
    0x0edb8832, 0x79dcb8a4, 0xe0d5e91e, 0x97d2d988, 0x09b64c2b, 0x7eb17cbd, 0xe7b82d07, 0x90bf1d91,
    0x1db71064, 0x6ab020f2, 0xf3b97148, 0x84be41de, 0x1adad47d, 0x6ddde4eb, 0xf4d4b551, 0x83d385c7,
    0x136c9856, 0x646ba8c0, 0xfd62f97a, 0x8a65c9ec, 0x14015c4f, 0x63066cd9, 0xfa0f3d63, 0x8d080df5,
    0x3b6e20c8, 0x4c69105e, 0xd56041e4, 0xa2677172, 0x3c03e4d1, 0x4b04d447, 0xd20d85fd, 0xa50ab56b,
    0x35b5a8fa, 0x42b2986c, 0xdbbbc9d6, 0xacbcf940, 0x32d86ce3, 0x45df5c75, 0xdcd60dcf, 0xabd13d59,
    0x26d930ac, 0x51de003a, 0xc8d75180, 0xbfd06116, 0x21b4f4b5, 0x56b3c423, 0xcfba9599, 0xb8bda50f,
    0x2802b89e, 0x5f058808, 0xc60cd9b2, 0xb10be924, 0x2f6f7c87, 0x58684c11, 0xc1611dab, 0xb6662d3d,
    0x76dc4190, 0x01db7106, 0x98d220bc, 0xefd5102a, 0x71b18589, 0x06b6b51f, 0x9fbfe4a5, 0xe8b8d433,
    0x7807c9a2, 0x0f00f934, 0x9609a88e, 0xe10e9818, 0x7f6a0dbb, 0x086d3d2d, 0x91646c97, 0xe6635c01,
    0x6b6b51f4, 0x1c6c6162, 0x856530d8, 0xf262004e, 0x6c0695ed, 0x1b01a57b, 0x8208f4c1, 0xf50fc457,
    0x65b0d9c6, 0x12b7e950, 0x8bbeb8ea, 0xfcb9887c, 0x62dd1ddf, 0x15da2d49, 0x8cd37cf3, 0xfbd44c65,
    0x4db26158, 0x3ab551ce, 0xa3bc0074, 0xd4bb30e2, 0x4adfa541, 0x3dd895d7, 0xa4d1c46d, 0xd3d6f4fb,
    0x4369e96a, 0x346ed9fc, 0xad678846, 0xda60b8d0, 0x44042d73, 0x33031de5, 0xaa0a4c5f, 0xdd0d7cc9,
    0x5005713c, 0x270241aa, 0xbe0b1010, 0xc90c2086, 0x5768b525, 0x206f85b3, 0xb966d409, 0xce61e49f,
    0x5edef90e, 0x29d9c998, 0xb0d09822, 0xc7d7a8b4, 0x59b33d17, 0x2eb40d81, 0xb7bd5c3b, 0xc0ba6cad,
    0xedb88320, 0x9abfb3b6, 0x03b6e20c, 0x74b1d29a, 0xead54739, 0x9dd277af, 0x04db2615, 0x73dc1683,
    0xe3630b12, 0x94643b84, 0x0d6d6a3e, 0x7a6a5aa8, 0xe40ecf0b, 0x9309ff9d, 0x0a00ae27, 0x7d079eb1,
    0xf00f9344, 0x8708a3d2, 0x1e01f268, 0x6906c2fe, 0xf762575d, 0x806567cb, 0x196c3671, 0x6e6b06e7,
    0xfed41b76, 0x89d32be0, 0x10da7a5a, 0x67dd4acc, 0xf9b9df6f, 0x8ebeeff9, 0x17b7be43, 0x60b08ed5,
    0xd6d6a3e8, 0xa1d1937e, 0x38d8c2c4, 0x4fdff252, 0xd1bb67f1, 0xa6bc5767, 0x3fb506dd, 0x48b2364b,
    0xd80d2bda, 0xaf0a1b4c, 0x36034af6, 0x41047a60, 0xdf60efc3, 0xa867df55, 0x316e8eef, 0x4669be79,
    0xcb61b38c, 0xbc66831a, 0x256fd2a0, 0x5268e236, 0xcc0c7795, 0xbb0b4703, 0x220216b9, 0x5505262f,
    0xc5ba3bbe, 0xb2bd0b28, 0x2bb45a92, 0x5cb36a04, 0xc2d7ffa7, 0xb5d0cf31, 0x2cd99e8b, 0x5bdeae1d,
    0x9b64c2b0, 0xec63f226, 0x756aa39c, 0x026d930a, 0x9c0906a9, 0xeb0e363f, 0x72076785, 0x05005713,
    0x95bf4a82, 0xe2b87a14, 0x7bb12bae, 0x0cb61b38, 0x92d28e9b, 0xe5d5be0d, 0x7cdcefb7, 0x0bdbdf21,
    0x86d3d2d4, 0xf1d4e242, 0x68ddb3f8, 0x1fda836e, 0x81be16cd, 0xf6b9265b, 0x6fb077e1, 0x18b74777,
    0x88085ae6, 0xff0f6a70, 0x66063bca, 0x11010b5c, 0x8f659eff, 0xf862ae69, 0x616bffd3, 0x166ccf45,
    0xa00ae278, 0xd70dd2ee, 0x4e048354, 0x3903b3c2, 0xa7672661, 0xd06016f7, 0x4969474d, 0x3e6e77db,
    0xaed16a4a, 0xd9d65adc, 0x40df0b66, 0x37d83bf0, 0xa9bcae53, 0xdebb9ec5, 0x47b2cf7f, 0x30b5ffe9,
    0xbdbdf21c, 0xcabac28a, 0x53b39330, 0x24b4a3a6, 0xbad03605, 0xcdd70693, 0x54de5729, 0x23d967bf,
    0xb3667a2e, 0xc4614ab8, 0x5d681b02, 0x2a6f2b94, 0xb40bbe37, 0xc30c8ea1, 0x5a05df1b, 0x2d02ef8d,
};
uint32_t cyc_crc32(uint32_t crc, const char *bytes, size_t length)
{
    crc = ~crc;
    for (size_t i = 0; i < length; i++)
        crc = crc_byte[(crc ^ (uint8_t)bytes[i]) & 0xff] ^ crc >> 8;
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

static int is_plain(char c)
{
    return (uint8_t)c >= 0x20 && c != '"' && c != '\\';
}

static void put_escaped(struct cyc_writer *w, char c)
{
    char pair[2] = {'\\', c};
    if ((uint8_t)c >= 0x20) {
        put(w, pair, 2);
    } else {
        put_text(w, "\\u");
        put_hex(w, (uint8_t)c, 4, put);
    }
}

// Plain characters go out in one piece: on a simulated core every call is simulated too.
static void put_quoted(struct cyc_writer *w, const char *text)
{
    put_text(w, "\"");
    while (*text != '\0') {
        size_t plain = 0;
        while (is_plain(text[plain])) // the end is not plain
            plain++;
        if (plain > 0)
            put(w, text, plain);
        text += plain;
        if (*text != '\0')
            put_escaped(w, *text++);
    }
    put_text(w, "\"");
}

static void put_int(struct cyc_writer *w, int64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    // Unsigned, because INT64_MIN has no positive counterpart.
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
    // Not by put(): the checksum covers the JSON object alone.
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

void cyc_record_ints(struct cyc_writer *w, const char *name, const int64_t *values, size_t count,
                     size_t stride)
{
    put_name(w, name);
    put_text(w, "[");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            put_text(w, ",");
        // The integers may be members of structs, `stride` bytes apart.
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
    // The same for the end of the frame.
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

static void put_params(struct cyc_writer *w, const char *name, const struct cyc_param *params)
{
    cyc_record_object_open(w, name);
    for (const struct cyc_param *p = params; p != NULL && p->name != NULL; p++)
        cyc_record_text(w, p->name, p->value);
    cyc_record_object_close(w);
}

void cyc_record_hello(struct cyc_writer *w, const struct cyc_clock *clock,
                      const struct cyc_hello *hello, uint32_t run)
{
    cyc_record_open(w, "hello");
    cyc_record_int(w, "schema", CYC_SCHEMA);
    cyc_record_text(w, "target", hello->target);
    cyc_record_text(w, "kernel", hello->kernel);
    put_params(w, "configuration", hello->configuration);
    cyc_record_clock(w, clock);
    put_params(w, "build", hello->build);
    cyc_record_int(w, "run", run);
    if (hello->origin != 0)
        cyc_record_int(w, "origin", (int64_t)hello->origin);
    if (hello->origin_ns != 0)
        cyc_record_int(w, "origin_ns", (int64_t)hello->origin_ns);
    if (hello->chain_cycles != 0)
        cyc_record_int(w, "chain_cycles", (int64_t)hello->chain_cycles);
    cyc_record_close(w);
}

static void put_counts(struct cyc_writer *w, const char *name, const struct cyc_expect *counts)
{
    cyc_record_object_open(w, name);
    for (const struct cyc_expect *e = counts; e != NULL && e->counter != NULL; e++)
        cyc_record_int(w, e->counter, e->per_turn);
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
    put_counts(w, "expect", contract->expect);
    if (contract->at_least != NULL)
        put_counts(w, "at_least", contract->at_least);
    put_params(w, "params", contract->params);
    cyc_record_text(w, "correction", contract->correction);
    if (contract->source != NULL)
        cyc_record_text(w, "source", contract->source);
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

static void put_reason(struct cyc_writer *w, const char *kind, const char *key, const char *reason)
{
    cyc_record_open(w, kind);
    cyc_record_text(w, "circle", key);
    cyc_record_text(w, "reason", reason);
    cyc_record_close(w);
}

void cyc_record_failed(struct cyc_writer *w, const char *key, const char *reason)
{
    put_reason(w, "failed", key, reason);
}

void cyc_record_skipped(struct cyc_writer *w, const char *key, const char *reason)
{
    put_reason(w, "skipped", key, reason);
}

void cyc_record_end(struct cyc_writer *w)
{
    cyc_record_open(w, "end");
    cyc_record_int(w, "records", (int64_t)w->records);
    cyc_record_int(w, "values", (int64_t)w->values);
    cyc_record_close(w);
}
