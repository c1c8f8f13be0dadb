// SPDX-License-Identifier: BSD-2-Clause
//
// An ioctl of a kernel module: the way into a driver of one's own. module/ holds the other side; to
// time another driver, change the two definitions.
//   make -C examples/circles/module && insmod examples/circles/module/cyclometer_null.ko
//   cyclometer run --circles examples/circles/module_ioctl.c --only 'module.*'
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "linux_circle.h"

#define DEVICE "/dev/cyclometer_null"
#define COMMAND _IO('c', 0)

static int device;

static void set_up(const struct linux_circle *self)
{
    (void)self;
    device = open(DEVICE, O_RDONLY | O_CLOEXEC);
    if (device < 0)
        circle_skip("there is no " DEVICE "; load the module of examples/circles/module");
}

static void turns(void *arg, uint64_t turns)
{
    (void)arg;
    for (; turns > 0; turns--) {
        int answer;
        must(ioctl(device, COMMAND, &answer), "ioctl");
    }
}

CIRCLE("module.ioctl") = {
    .title = "ioctl of a character device",
    .sequence = CYC_SEQUENCE("client: ioctl", "driver: returns"),
    .from = "client: before ioctl",
    .to = "client: after ioctl",
    .expect = CYC_EXPECT({"entries", 1}, {"switches", 0}, {"faults", 0}),
    .setup = set_up,
    .turns = turns,
    .client = 50,
};
