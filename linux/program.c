// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run.h"

#define PROGRAMS_MAX 16
#define ARGUMENTS_MAX 64
#define EXPECT_MAX 16
#define PRIORITY 50
#define NOT_EXECUTED 127

static const char ready[] = "cyclometer ready\n";

// What a circle's variant points to.
struct program {
    char *arguments[ARGUMENTS_MAX + 1];
    int argument_count;
    struct cyc_expect expect[EXPECT_MAX + 1];
    int expect_count;
    struct linux_circle circle;
    struct registered_circle registered;
};

static struct program programs[PROGRAMS_MAX];
static const struct registered_circle *circles[PROGRAMS_MAX + 1];
static int program_count;

static _Noreturn void execute(const struct program *program, int input, int output, int errors)
{
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    execv(program->arguments[0], program->arguments);
    _exit(NOT_EXECUTED);
}

// A program that answers requests.

static int to_program, from_program; // our ends of the pipes
static int input, output;            // the program's

static void run_program(const struct linux_circle *self)
{
    execute(self->variant, input, output, STDERR_FILENO);
}

// Reads up to the end of a line; returns its length.
static size_t read_line(char *line, size_t room)
{
    size_t length = 0;
    while (length == 0 || line[length - 1] != '\n') {
        if (length == room)
            circle_fail("reading a line of more than 64 bytes from the program");
        long got = must(read(from_program, line + length, room - length), "read");
        if (got == 0)
            circle_fail("reading from the program, which has ended");
        length += (size_t)got;
    }
    return length;
}

static void request(uint64_t turns)
{
    char line[64];
    int length = snprintf(line, sizeof line, "%llu\n", (unsigned long long)turns);
    must(write(to_program, line, (size_t)length), "write to the program");
    read_line(line, sizeof line);
    outcomes->requests++;
}

static void request_nothing(const struct linux_circle *self)
{
    (void)self;
    request(0);
}

static void request_turns(void *arg, uint64_t turns)
{
    (void)arg;
    request(turns);
}

static void start_program(const struct linux_circle *self)
{
    int requested[2], answered[2];
    char line[64];
    signal(SIGPIPE, SIG_IGN); // a program that has ended is reported by write()
    must(pipe2(requested, O_CLOEXEC), "pipe2");
    must(pipe2(answered, O_CLOEXEC), "pipe2");
    input = requested[0];
    to_program = requested[1];
    from_program = answered[0];
    output = answered[1];
    peer_start(self, run_program);
    close(input);
    close(output);
    size_t length = read_line(line, sizeof line);
    if (length != strlen(ready) || memcmp(line, ready, length) != 0)
        circle_fail("starting the program, which did not say `cyclometer ready` this time");
}

// A program that is one turn.

static int null_device;

static void open_null(const struct linux_circle *self)
{
    (void)self;
    null_device = (int)must(open("/dev/null", O_RDWR | O_CLOEXEC), "open of /dev/null");
}

// Not inlined into the loop: the child would share the loop's variables.
static __attribute__((noinline)) pid_t spawn(const struct program *program)
{
    pid_t child = vfork();
    if (child == 0)
        execute(program, null_device, null_device, null_device);
    return child;
}

static void run_turns(void *arg, uint64_t turns)
{
    const struct linux_circle *self = arg;
    for (; turns > 0; turns--) {
        int status = 0;
        must(waitpid(spawn(self->variant), &status, 0), "vfork or waitpid");
        if (status != 0)
            circle_fail("a run of the program, which ended with an error,");
    }
}

static void describe(struct program *p, int answers)
{
    static const char *const answering[] = {"client: requests turns", "program: runs them",
                                            "program: answers", NULL};
    static const char *const running[] = {"client: vfork", "program: execve, runs, exits",
                                          "client: returns from waitpid", NULL};
    static const struct cyc_param by_request[] = {{"turn", "on request"}, {0}};
    static const struct cyc_param by_run[] = {{"turn", "a run of the program"}, {0}};
    struct linux_circle *c = &p->circle;
    c->sequence = answers ? answering : running;
    c->params = answers ? by_request : by_run;
    c->from = answers ? "client: before the request" : "client: before vfork";
    c->to = answers ? "client: after the answer" : "client: after waitpid";
    c->expect = p->expect;
    c->setup = answers ? start_program : open_null;
    c->turns = answers ? request_turns : run_turns;
    c->idle = answers ? request_nothing : NULL;
    c->space = CROSS_SPACE;
    c->client = PRIORITY;
    c->server = answers ? PRIORITY : 0;
    c->variant = p;
}

// Reads the output of a program. 1 once it has begun with the line `ready`, 0 if it ends without
// it, -1 if neither happens in time.
static int listen_to(int from, int watchdog_s)
{
    char text[4096], head[sizeof ready];
    size_t length = 0;
    struct pollfd readable = {.fd = from, .events = POLLIN};
    time_t limit = time(NULL) + watchdog_s;
    while (time(NULL) <= limit) {
        if (poll(&readable, 1, 1000) <= 0)
            continue;
        ssize_t got = read(from, text, sizeof text);
        if (got <= 0)
            return 0;
        for (ssize_t i = 0; i < got && length < strlen(ready); i++)
            head[length++] = text[i];
        if (length == strlen(ready) && memcmp(head, ready, length) == 0)
            return 1;
    }
    return -1;
}

// Starts the program once, without input, to see which kind it is. NULL, or what is wrong.
static const char *try(struct program *p, int watchdog_s)
{
    int ends[2], null = open("/dev/null", O_RDWR | O_CLOEXEC), status = 0;
    if (null < 0 || pipe2(ends, O_CLOEXEC) != 0)
        return "no pipe could be made";
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0); // so that what it starts ends with it
        execute(p, null, ends[1], STDERR_FILENO);
    }
    close(ends[1]);
    close(null);
    int answers = listen_to(ends[0], watchdog_s);
    close(ends[0]);
    if (answers != 0)
        kill(-child, SIGKILL); // one that answers has done its part
    waitpid(child, &status, 0);
    if (answers < 0)
        return "it did not end in time without input (--watchdog allows more), and did not begin "
               "with the line `cyclometer ready`";
    if (answers == 0 && WIFEXITED(status) && WEXITSTATUS(status) == NOT_EXECUTED)
        return "it cannot be executed";
    if (answers == 0 && status != 0)
        return "it ended with an error; a command that is timed must succeed";
    run->answering |= (uint32_t)answers << (p - programs);
    return NULL;
}

static char *value_of(char *line, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(line, word, length) != 0 || line[length] != ' ')
        return NULL;
    line[strcspn(line, "\n")] = '\0';
    return strdup(line + length + 1);
}

static int take_expect(struct program *p, char *value)
{
    char *number = strchr(value, ' ');
    if (number == NULL || p->expect_count == EXPECT_MAX)
        return -1;
    *number++ = '\0';
    p->expect[p->expect_count++] = (struct cyc_expect){value, atoll(number)};
    return 0;
}

// 0, or -1 if the line is not understood.
static int take_line(char *line)
{
    struct program *p = &programs[program_count - 1];
    char *value;
    if ((value = value_of(line, "key")) != NULL && program_count < PROGRAMS_MAX) {
        p = &programs[program_count++];
        p->registered = (struct registered_circle){value, "--exec", &p->circle};
        return 0;
    }
    if (program_count == 0)
        return -1;
    if ((value = value_of(line, "title")) != NULL)
        p->circle.title = value;
    else if ((value = value_of(line, "argument")) != NULL && p->argument_count < ARGUMENTS_MAX)
        p->arguments[p->argument_count++] = value;
    else if ((value = value_of(line, "expect")) != NULL)
        return take_expect(p, value);
    else
        return -1;
    return 0;
}

const char *programs_read(const char *file)
{
    char line[4096];
    FILE *lines = fopen(file, "re");
    if (lines == NULL)
        return "--exec names a file that cannot be read";
    while (fgets(line, sizeof line, lines) != NULL)
        if (take_line(line) != 0)
            return "--exec names a file with a line that is not understood";
    fclose(lines);
    return NULL;
}

const char *programs_try(int watchdog_s)
{
    static char sentence[320];
    for (int i = 0; i < program_count; i++) {
        struct program *p = &programs[i];
        const char *wrong = p->argument_count > 0 ? try(p, watchdog_s) : "it has no argument line";
        if (wrong != NULL) {
            snprintf(sentence, sizeof sentence, "%s: %s", p->circle.title, wrong);
            return sentence;
        }
    }
    return NULL;
}

void programs_describe(void)
{
    for (int i = 0; i < program_count; i++) {
        describe(&programs[i], (int)(run->answering >> i & 1));
        circles[i] = &programs[i].registered;
    }
}

const struct registered_circle *const *programs_circles(void)
{
    return circles;
}
