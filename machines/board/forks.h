// SPDX-License-Identifier: BSD-2-Clause
//
// Many boots of one image that differ in its arguments alone: they are one boot until the core
// first touches the device tree, which holds the arguments, and from there on a process each.
#ifndef FORKS_H
#define FORKS_H

#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace board {

struct ForkOptions {
    std::string path;     // a line for each boot: its arguments; none: no forks
    unsigned at_once = 1; // boots that run beside each other
    unsigned bound_s = 0; // of each boot, and of what they share, by the wall clock; 0: none
};

// Thrown in the process that forked, when all boots have ended.
struct AllForked {};

class Forks {
  public:
    // Sends what is printed from here on to `path`.0, with which each boot's console begins. Throws
    // std::runtime_error if the files cannot be read and written.
    explicit Forks(const ForkOptions &options);
    ~Forks();
    // Returns once in each boot, whose console is `path` with the number of its line, and calls
    // `begin` with its arguments before. In the first process it prints the number and the exit
    // code of each boot that has ended, and throws AllForked.
    //
    // A process of several threads loses all but one here, and its end waits for them: make_core
    // asks for one, which a model that Verilator built with --threads refuses.
    void fork_all(const std::function<void(const std::string &)> &begin);

  private:
    bool start(size_t number);
    void await_one();
    static void redirect(const std::string &path);

    ForkOptions options_;
    std::vector<std::string> lines_;
    std::map<int, size_t> running_; // number of the line by process
    FILE *report_;                  // the output that we were started with
};

} // namespace board

#endif
