// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A character device whose ioctl does nothing: the floor under a driver's.
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>

static long null_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
    return 0;
}

static const struct file_operations operations = {
    .owner = THIS_MODULE,
    .unlocked_ioctl = null_ioctl,
};

static struct miscdevice device = {
    .minor = MISC_DYNAMIC_MINOR,
    .name = "cyclometer_null",
    .fops = &operations,
    .mode = 0444,
};

module_misc_device(device);
MODULE_DESCRIPTION("A device whose ioctl does nothing, to be timed");
MODULE_LICENSE("Dual BSD/GPL");
