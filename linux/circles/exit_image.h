// SPDX-License-Identifier: BSD-2-Clause
//
// The smallest static program: one page, whose only work is to exit with status 0.
#ifndef LINUX_CIRCLES_EXIT_IMAGE_H
#define LINUX_CIRCLES_EXIT_IMAGE_H

// A file descriptor of the program in memory, or -1 if the kernel refuses executable memfds.
int exit_image_open(void);
// Executes it in place of the calling process; returns only on failure.
void exit_image_exec(int fd);

#endif
