#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Sets up .venv and the C tools: `tools/setup.sh setup` for measuring, `setup-dev` for linting and the fast tests,
# `setup-all` for all tests, `setup-bench` for all tests and the tools that `make bench` sets beside ours.
# Does only what is missing, so it may be run at any time. $PYTHON and $CC choose an interpreter and a compiler.
set -eu
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$1" >&2; }
fail() { say "$1"; exit 4; }

# Installs Debian packages where that needs no password; otherwise names them.
install_packages() {
    if [ "$(id -u)" = 0 ]; then as_root=''
    elif sudo -n true 2>/dev/null; then as_root='sudo -n'
    else fail "the packages $* are missing; install them (apt-get install $*) and run this again"
    fi
    command -v apt-get >/dev/null ||
        fail "this machine has no apt-get; install what Debian calls $* and run this again"
    say "installing $*"
    $as_root env DEBIAN_FRONTEND=noninteractive sh -c \
        'apt-get install -qq -y --no-install-recommends "$@" || { apt-get update -qq &&
         apt-get install -qq -y --no-install-recommends "$@"; }' sh "$@" >/dev/null ||
        fail "apt-get could not install $*; install them by hand and run this again"
}

is_recent() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

find_python() {
    for name in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
        if is_recent "$name"; then echo "$name"; return; fi
    done
    fail "no Python 3.11 or later was found; install one (Debian 12: apt-get install python3) or name it in PYTHON"
}

# Debian ships the module venv without the pip it needs; the package that adds it carries the version's number.
make_venv() {
    python=$(find_python)
    "$python" -c 'import venv, ensurepip' 2>/dev/null ||
        install_packages "$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')"
    "$python" -m venv --clear .venv
}

has_compiler() {
    printf '#include <stdio.h>\nint main(void) { return 0; }\n' | "${CC:-cc}" -x c -o /dev/null - 2>/dev/null
}

case ${1:-} in
    setup) package=. ;;
    setup-dev | setup-all | setup-bench) package='.[test]' ;;
    *) say 'usage: tools/setup.sh setup|setup-dev|setup-all|setup-bench'; exit 2 ;;
esac

if ! has_compiler; then
    [ -z "${CC:-}" ] || fail "CC=$CC compiles nothing; name a working C compiler or unset CC"
    install_packages gcc libc6-dev
fi
command -v make >/dev/null || install_packages make
if ! is_recent .venv/bin/python || ! .venv/bin/python -m pip --version >/dev/null 2>&1; then make_venv; fi
say "installing Python packages into .venv"
.venv/bin/python -m pip install --quiet --disable-pip-version-check --editable "$package" ||
    fail "pip could not install the Python packages; its message stands above"

# The machines that the tests boot: an emulator, a compiler for what it runs, and what makes a program of a core's Verilog.
# And a browser, to look at reports.
if [ "$1" = setup-all ]; then
    command -v qemu-system-riscv64 >/dev/null || install_packages qemu-system-misc
    command -v qemu-system-x86_64 >/dev/null || install_packages qemu-system-x86
    command -v riscv64-unknown-elf-gcc >/dev/null || install_packages gcc-riscv64-unknown-elf
    command -v riscv64-linux-gnu-gcc >/dev/null || install_packages gcc-riscv64-linux-gnu libc6-dev-riscv64-cross
    command -v verilator >/dev/null || install_packages verilator
    command -v g++ >/dev/null || install_packages g++
    command -v chromium >/dev/null || command -v google-chrome >/dev/null || install_packages chromium fonts-dejavu-core
fi
# The tests hold exported files against Go's own reader of them; they skip that where Go is missing.
benchstat=golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da
if [ "$1" = setup-all ] && command -v go >/dev/null && [ ! -x .venv/bin/benchstat ]; then
    say "building benchstat"
    GOBIN=$PWD/.venv/bin go install "$benchstat" 2>/dev/null || say "benchstat could not be built; its tests are skipped"
fi
# The tests of stores talk to a real S3 server on loopback; they skip that where Go is missing.
versitygw=github.com/versity/versitygw/cmd/versitygw@v1.8.0
if [ "$1" = setup-all ] && command -v go >/dev/null && [ ! -x .venv/bin/versitygw ]; then
    say "building versitygw"
    GOBIN=$PWD/.venv/bin go install "$versitygw" 2>/dev/null || say "versitygw could not be built; its tests are skipped"
fi
# The example ports for FreeRTOS and Embassy are booted with the real kernels, out of crates; their tests skip where Cargo is missing.
riscv=riscv64imac-unknown-none-elf
if [ "$1" = setup-all ] && command -v cargo >/dev/null; then
    cargo fetch --quiet --locked --manifest-path examples/ports/freertos/Cargo.toml 2>/dev/null ||
        say "the sources of FreeRTOS could not be fetched; its test is skipped"
    cargo fetch --quiet --locked --target $riscv --manifest-path examples/ports/embassy/Cargo.toml 2>/dev/null ||
        say "the crates of Embassy could not be fetched; its tests are skipped"
fi
if [ "$1" = setup-all ] && command -v rustup >/dev/null && ! rustup target list --installed | grep -q $riscv; then
    timeout 60 rustup --quiet target add $riscv 2>/dev/null ||
        say "Rust for $riscv could not be installed; the tests of Embassy are skipped"
fi
# lmbench is in Debian's section non-free, which the apt of few machines reads: fetched in the folder `$1`, with a state of
# its own so that what the machine's apt knows stays as it is, from the archive that apt reads first. Only the program that
# the bench starts is kept.
fetch_lat_pipe() (
    kept=$PWD/.venv/bin
    archive=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Created-By: Packages' | head -1)
    cd "$1" && mkdir -p lists/partial archives/partial &&
        echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive non-free" >sources.list &&
        set -- -qq -o "Dir::Etc::SourceList=$1/sources.list" -o Dir::Etc::SourceParts=/dev/null \
            -o "Dir::State::Lists=$1/lists" -o "Dir::Cache=$1" &&
        apt-get "$@" update && apt-get "$@" download lmbench && dpkg-deb -x lmbench_*.deb . &&
        cp usr/lib/lmbench/bin/*/lat_pipe "$kept"
)
# What `make bench` times beside ours, as far as a package has it; it names the rest.
core_to_core=core-to-core-latency@1.2.0
if [ "$1" = setup-bench ]; then
    command -v perf >/dev/null || install_packages linux-perf
    command -v ptsematest >/dev/null || install_packages rt-tests
    command -v stress-ng >/dev/null || install_packages stress-ng
    if [ ! -x .venv/bin/lat_pipe ]; then
        say "fetching lmbench"
        fetched=$(mktemp -d)
        fetch_lat_pipe "$fetched" >/dev/null 2>&1 || say "lmbench could not be fetched; make bench names it"
        rm -rf "$fetched"
    fi
    if command -v cargo >/dev/null && [ ! -x .venv/bin/core-to-core-latency ]; then
        say "building core-to-core-latency"
        cargo install --quiet --locked --root .venv "$core_to_core" 2>/dev/null ||
            say "core-to-core-latency could not be built; make bench names it"
    fi
fi
