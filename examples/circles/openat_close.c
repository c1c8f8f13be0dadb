// SPDX-License-Identifier: BSD-2-Clause
//
// openat and close of a file that stays in the page cache.
//   cyclometer run --circles examples/circles/openat_close.c --only 'file.*'
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>

#include "linux_circle.h"

// Any file that every Linux has; the path is looked up in the mounted root.
#define FILE_PATH "/proc/self/exe"

static char path[4096]; // of a regular file: what FILE_PATH leads to

static void set_up(const struct linux_circle *self)
{
    (void)self;
    must(readlink(FILE_PATH, path, sizeof path - 1), "readlink of " FILE_PATH);
}

static void turns(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        close((int)must(openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC), "openat"));
}

CIRCLE("file.openat_close") = {
    .title = "openat and close of a regular file by its absolute path",
    .sequence = CYC_SEQUENCE("client: openat", "client: close"),
    .from = "client: before openat",
    .to = "client: after close",
    .expect = CYC_EXPECT({"entries", 2}, {"switches", 0}, {"faults", 0}),
    .setup = set_up,
    .turns = turns,
    .client = 50,
};
