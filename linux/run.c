// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "run.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARGUMENTS_MAX 64
#define DESCRIPTORS_MAX 128 // more than a supervisor opens

struct run *run;
struct outcomes *outcomes;
static int memory_file = -1;

static void map(void)
{
    void *shared =
        mmap(NULL, sizeof *run, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, memory_file, 0);
    if (shared == MAP_FAILED)
        circle_fail("mmap");
    run = shared;
    outcomes = &run->outcomes;
    // One name for all processes, by which the kernel's wake-ups of ours are told from others: from
    // those of a second harness, too, and of the laboratory, which the kernel calls `cyclometer`.
    if (run->name[0] == '\0')
        snprintf(run->name, sizeof run->name, "cyclo-%d", getpid());
    prctl(PR_SET_NAME, run->name);
}

void run_prepare(void)
{
    memory_file = (int)must(syscall(SYS_memfd_create, "run", 1u /* MFD_CLOEXEC */), "memfd_create");
    must(ftruncate(memory_file, sizeof *run), "ftruncate");
    map();
    run->cycles_file = run->evict_file = -1;
    prctl(PR_SET_CHILD_SUBREAPER, 1); // peers that outlive their visit are ours to reap
}

// Whether what is open stays open in a program that this process executes.
static void pass_on(int yes)
{
    for (int descriptor = 3; descriptor < DESCRIPTORS_MAX; descriptor++)
        fcntl(descriptor, F_SETFD, yes ? 0 : FD_CLOEXEC); // one that is not open stays so
}

void run_join(int descriptor)
{
    memory_file = descriptor;
    pass_on(0);
    map();
}

void run_execute_visit(char **arguments)
{
    char number[12], *all[ARGUMENTS_MAX + 3];
    int count = 0;
    while (arguments[count] != NULL && count < ARGUMENTS_MAX) {
        all[count] = arguments[count];
        count++;
    }
    snprintf(number, sizeof number, "%d", memory_file);
    all[count++] = (char *)(uintptr_t)"--visit";
    all[count++] = number;
    all[count] = NULL;
    pass_on(1);
    execv("/proc/self/exe", all);
    circle_fail("execution of /proc/self/exe");
}

struct cyc_writer *run_writer(void)
{
    run->writer.put = lines_put; // where this process has it
    return &run->writer;
}
