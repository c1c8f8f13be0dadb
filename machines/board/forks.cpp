// SPDX-License-Identifier: BSD-2-Clause
#include "forks.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace board {

constexpr int FIRST_SIGNAL_CODE = 128; // exit code of a process that a signal ended, as shells say

static std::runtime_error broken(const std::string &what)
{
    return std::runtime_error(what + ": " + strerror(errno));
}

Forks::Forks(const ForkOptions &options) : options_(options), report_(nullptr)
{
    std::ifstream file(options.path);
    for (std::string line; std::getline(file, line);)
        lines_.push_back(line);
    if (lines_.empty())
        throw std::runtime_error(options.path + " has no line of arguments, one for each boot");
    report_ = fdopen(dup(STDOUT_FILENO), "w");
    if (report_ == nullptr)
        throw broken("the output cannot be kept");
    redirect(options.path + ".0");
    alarm(options.bound_s);
}

Forks::~Forks()
{
    if (report_ != nullptr)
        fclose(report_);
}

// Messages go to the console, too, in their order.
void Forks::redirect(const std::string &path)
{
    if (freopen(path.c_str(), "w", stdout) == nullptr)
        throw broken("the console " + path + " cannot be written");
    dup2(STDOUT_FILENO, STDERR_FILENO);
}

void Forks::fork_all(const std::function<void(const std::string &)> &begin)
{
    alarm(0);
    fflush(stdout);
    auto asked_to_end = signal(SIGTERM, SIG_DFL); // to all of us
    for (size_t number = 1; number <= lines_.size(); number++) {
        while (running_.size() == options_.at_once)
            await_one();
        if (start(number)) {
            signal(SIGTERM, asked_to_end);
            begin(lines_[number - 1]);
            return;
        }
    }
    while (!running_.empty())
        await_one();
    throw AllForked();
}

// Whether this is the new process.
bool Forks::start(size_t number)
{
    int child = fork();
    if (child < 0)
        throw broken("the board cannot fork");
    if (child > 0) {
        running_[child] = number;
        return false;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); // who ends the first process ends them all
    alarm(options_.bound_s);
    std::ifstream common(options_.path + ".0", std::ios::binary);
    redirect(options_.path + "." + std::to_string(number));
    for (char byte; common.get(byte);)
        putchar(byte);
    return true;
}

void Forks::await_one()
{
    int status;
    int ended = wait(&status);
    if (ended < 0)
        throw broken("the board waits for its forks");
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : FIRST_SIGNAL_CODE + WTERMSIG(status);
    fprintf(report_, "%zu %d\n", running_[ended], code);
    fflush(report_);
    running_.erase(ended);
}

} // namespace board
