// SPDX-License-Identifier: BSD-2-Clause
//
// Files: their names, and what the page cache holds of them. The file with a name is the harness's
// own executable, reached by one component of a path, for every machine has it. The file that is
// read and written has no name: it lies in memory, and only the page cache is timed.
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contract.h"

static char name[256];

// Goes to the folder of the executable, so that the length of its path is none of the result.
static void set_up_name(const struct linux_circle *self)
{
    char path[4096] = "";
    (void)self;
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    char *slash = length > 0 ? strrchr(path, '/') : NULL;
    if (slash == NULL || strlen(slash + 1) >= sizeof name)
        circle_skip("/proc/self/exe does not name the harness; mount /proc");
    strcpy(name, slash + 1);
    slash[slash == path] = '\0'; // the root's own slash stays
    must(chdir(path), "chdir");
    must(access(name, R_OK), "access to the harness's own executable");
}

static void open_closes(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--)
        close((int)must(open(name, O_RDONLY | O_CLOEXEC), "open"));
}

static void stats(void *arg, uint64_t turns)
{
    struct stat status;
    (void)arg;
    for (; turns > 0; turns--)
        must(stat(name, &status), "stat");
}

static void fstats(void *arg, uint64_t turns)
{
    struct stat status;
    (void)arg;
    for (; turns > 0; turns--)
        must(fstat(STDIN_FILENO, &status), "fstat");
}

static int fd;
static char *buffer;

static void set_up_content(const struct linux_circle *self)
{
    size_t bytes = *(const size_t *)self->variant;
    buffer = shared_alloc(bytes);
    fd = (int)must(memfd_create("content", MFD_CLOEXEC), "memfd_create");
    if (must(write(fd, buffer, bytes), "write") != (long)bytes)
        circle_skip("there is no memory for the file");
}

static void reads(void *arg, uint64_t turns)
{
    const struct linux_circle *self = arg;
    size_t bytes = *(const size_t *)self->variant;
    for (; turns > 0; turns--)
        must(pread(fd, buffer, bytes, 0), "pread");
}

static void writes(void *arg, uint64_t turns)
{
    const struct linux_circle *self = arg;
    size_t bytes = *(const size_t *)self->variant;
    for (; turns > 0; turns--)
        must(pwrite(fd, buffer, bytes, 0), "pwrite");
}

CIRCLE("file.open_close") = {
    .title = "Open and close a file of one path component",
    ALONE("open, close"),
    .expect = ENTRIES(2),
    .params = CYC_PARAMS({"file", "the harness's executable"}),
    .setup = set_up_name,
    .turns = open_closes,
};

CIRCLE("file.stat") = {
    .title = "stat of a file of one path component",
    ALONE("stat"),
    .expect = ENTRIES(1),
    .params = CYC_PARAMS({"file", "the harness's executable"}),
    .setup = set_up_name,
    .turns = stats,
};

CIRCLE("file.fstat") = {
    .title = "fstat of an open file",
    ALONE("fstat"),
    .expect = ENTRIES(1),
    .params = CYC_PARAMS({"file", "standard input"}),
    .turns = fstats,
};

#define READ(bytes_)                                                                              \
    ALONE("pread"), .expect = ENTRIES(1),                                                         \
        .params = CYC_PARAMS({"bytes", #bytes_}, {"file", "in memory"}), .setup = set_up_content, \
        .turns = reads, .variant = SIZE(bytes_)

CIRCLE("file.read.bytes_1") = {
    .title = "Read 1 byte from the page cache",
    READ(1),
};

CIRCLE("file.read.bytes_4096") = {
    .title = "Read 4 KiB from the page cache",
    READ(4096),
};

CIRCLE("file.read.bytes_65536") = {
    .title = "Read 64 KiB from the page cache",
    READ(65536),
};

CIRCLE("file.read.bytes_1048576") = {
    .title = "Read 1 MiB from the page cache",
    READ(1048576),
};

CIRCLE("file.write.bytes_4096") = {
    .title = "Write 4 KiB into the page cache",
    ALONE("pwrite"),
    .expect = ENTRIES(1),
    .params = CYC_PARAMS({"bytes", "4096"}, {"file", "in memory"}),
    .setup = set_up_content,
    .turns = writes,
    .variant = SIZE(4096),
};
