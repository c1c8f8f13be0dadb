// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "init.h"

#include <fcntl.h>
#include <net/if.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <cyc/clock.h>

#define ARGUMENTS_MAX 32
#define PAGE_BYTES 4096
#define ORDERS_PAGES 16
#define ORDERS_HEAD "cyclometer: orders %02u\n"
#define CONSOLE_QUIET 8 // syslog(2): set the level from which messages reach the console

static const struct {
    const char *type, *path;
} mounts[] = {
    {"devtmpfs", "/dev"}, {"proc", "/proc"}, {"sysfs", "/sys"}, {"tracefs", "/sys/kernel/tracing"},
    {"tmpfs", "/tmp"},
};

// What a system's own settings would disturb; a kernel that has no such file needs no such value.
static const struct {
    const char *path, *value;
} settings[] = {
    {"/proc/sys/kernel/sched_rt_runtime_us",
     "-1"}, // no pause of real-time threads, which a plan never lets starve
    {"/proc/sys/kernel/perf_user_access",
     "2"}, // RISC-V since 6.6: `instret` may be read by processes
    {"/proc/sys/kernel/randomize_va_space", "0"}, // one layout of memory in every boot
};

int init_is_first(void)
{
    return getpid() == 1;
}

static void mount_all(void)
{
    for (size_t i = 0; i < sizeof mounts / sizeof mounts[0]; i++) {
        mkdir(mounts[i].path, 0755);
        mount(mounts[i].type, mounts[i].path, mounts[i].type, 0,
              NULL); // what is missing a circle will name
    }
}

static void set_all(void)
{
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        int fd = open(settings[i].path, O_WRONLY | O_CLOEXEC);
        ssize_t wrote = fd >= 0 ? write(fd, settings[i].value, strlen(settings[i].value)) : 0;
        (void)wrote;
        close(fd);
    }
}

// Lines end as FORMAT.md says, and nothing that the kernel has to tell stands between two bytes of
// one.
static void quiet_console(void)
{
    struct termios console;
    if (tcgetattr(STDOUT_FILENO, &console) == 0) {
        cfmakeraw(&console);
        tcsetattr(STDOUT_FILENO, TCSANOW, &console);
    }
    klogctl(CONSOLE_QUIET, NULL, 1);
}

static void raise_loopback(void)
{
    struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ioctl(fd, SIOCSIFFLAGS, &request); // a kernel without a network has no circles over it
    close(fd);
}

static void end_with_first_process(void)
{
    if (init_is_first()) // a visit that ends the ordinary way ends only itself
        init_end_machine();
}

void init_drain(void)
{
    tcdrain(STDOUT_FILENO);
}

void init_end_machine(void)
{
    init_drain();
    sync();
    reboot(RB_AUTOBOOT); // the machine is started so that it ends instead
}

// Its arguments are where the ABI has them when the debugger stops at the hint.
__attribute__((noinline)) void init_show(const char *text, size_t length)
{
    CYC_HINT_MOVE();
    __asm__ volatile("" ::"r"(text), "r"(length) : "memory");
}

// A console would take as long as a boot for so many lines; the debugger takes them out of memory.
void init_show_symbols(void)
{
    char *text = NULL, *line = NULL;
    size_t length = 0, room = 0;
    FILE *symbols = fopen("/proc/kallsyms", "re"), *shown = open_memstream(&text, &length);
    while (symbols != NULL && getline(&line, &room, symbols) > 0) {
        const char *type = strchr(line, ' ');
        if (type != NULL && strchr("tTwW", type[1]) != NULL)
            fputs(line, shown);
    }
    fclose(shown);
    init_show(text, length);
    free(text);
    free(line);
    if (symbols != NULL)
        fclose(symbols);
}

static void store(const char *path, const char *text, size_t length)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    ssize_t wrote = fd >= 0 ? write(fd, text, length) : 0;
    (void)wrote;
    close(fd);
}

// A kernel that is booted once and continued often learns only here what to do: whoever saved the
// machine at the hint finds these pages in what was saved, and puts in their place the arguments,
// an empty line, and the plan.
static void take_orders(void)
{
    static _Alignas(PAGE_BYTES) char orders[ORDERS_PAGES][PAGE_BYTES];
    memset(orders, '.', sizeof orders);
    for (size_t i = 0; i < ORDERS_PAGES; i++)
        snprintf(orders[i], sizeof ORDERS_HEAD, ORDERS_HEAD, (unsigned)i);
    const char *volatile told = orders[0];
    CYC_HINT_MOVE();
    const char *text = told, *end = memchr(text, '\0', sizeof orders);
    const char *plan = end != NULL ? strstr(text, "\n\n") : NULL;
    if (plan == NULL)
        return;
    store("/arguments", text, (size_t)(plan + 1 - text));
    store("/plan", plan + 2, (size_t)(end - plan - 2));
}

int init_prepare(char ***argv)
{
    static char text[2048];
    static char *arguments[ARGUMENTS_MAX + 1] = {"init"};
    int count = 1;
    atexit(end_with_first_process);
    mount_all();
    quiet_console();
    set_all();
    raise_loopback();
    if (access("/arguments", R_OK) != 0)
        take_orders();
    int fd = open("/arguments", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    text[got > 0 ? got : 0] = '\0';
    for (char *word = strtok(text, "\n"); word != NULL && count < ARGUMENTS_MAX;
         word = strtok(NULL, "\n"))
        arguments[count++] = word;
    if (freopen("/plan", "r", stdin) == NULL)
        fprintf(stderr, "cyclometer-linux: the archive holds no /plan; put one beside /init\n");
    *argv = arguments;
    return count;
}
