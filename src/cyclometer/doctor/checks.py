# SPDX-License-Identifier: BSD-2-Clause
"""Judges an observation: one small function a check, each with what it found, what that costs and
what changes it.

A cost names a figure and where it is from: this machine's own files, a measurement made by the
doctor, or a source. `bad` is kept for what leaves no number worth having; everything else that
disturbs is a `warn`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from cyclometer.doctor.observe import Observation
from cyclometer.environment import format_cpus, parse_cpus

OK, WARN, BAD, UNKNOWN = "ok", "warn", "bad", "unknown"

STEAL_WARN_SHARE, STEAL_BAD_SHARE = 0.005, 0.20
BUSY_WARN_SHARE, BUSY_BAD_SHARE = 0.05, 0.50
IDLE_EXIT_WARN_US = 10
TIMER_WARN_HZ = 250
MEMLOCK_NEEDED_BYTES = 128 << 20  # the harness, its peers' stacks and the buffer that evicts caches
TUNE = "run `cyclometer doctor --tune`"


@dataclass(frozen=True)
class CheckResult:
    """One check's answer. `state` is ok, warn, bad or unknown; `cost` and `change` are '' where
    there is none.
    """

    name: str
    state: str
    found: str
    cost: str = ""
    change: str = ""


def examine(seen: Observation) -> list[CheckResult]:
    """Every check's finding, in the order of CHECKS."""
    return [CheckResult(name, *check(seen)) for name, check in CHECKS.items()]


# state, found, and where they apply cost and change.
Answer = tuple[str, str] | tuple[str, str, str, str]


def _here(by_value: dict[str, str], cpu: int) -> str | None:
    """The value that holds for `cpu` in a fact given as {value: CPU list}."""
    return next((value for value, cpus in by_value.items() if cpu in parse_cpus(cpus)), None)


def _khz(seen: Observation, name: str) -> int:
    value = _here(seen.facts.get(name, {}), seen.cpu) or ""
    return int(value) if value.isdigit() else 0


def check_governor(seen: Observation) -> Answer:
    governor = _here(seen.facts.get("governor", {}), seen.cpu)
    if governor is None:
        return UNKNOWN, "the kernel shows no frequency control (as in most virtual machines)"
    if governor == "performance":
        return OK, f"CPU {seen.cpu} runs under `performance`"
    low_khz, high_khz = _khz(seen, "frequency_min_khz"), _khz(seen, "frequency_max_khz")
    span = (
        f"from {low_khz // 1000} to {high_khz // 1000} MHz, a factor of {high_khz / low_khz:.1f}"
        if low_khz
        else ""
    )
    cost = (
        f"the frequency may move between two tests {span or 'over an unknown range'} "
        "(scaling_*_freq)"
    )
    return WARN, f"CPU {seen.cpu} runs under `{governor}`", cost, TUNE


def check_turbo(seen: Observation) -> Answer:
    turbo = seen.facts.get("turbo")
    if turbo is None:
        return UNKNOWN, "the kernel shows no turbo switch"
    if turbo == "off":
        return OK, "off"
    base_khz, high_khz = _khz(seen, "frequency_base_khz"), _khz(seen, "frequency_max_khz")
    gain = (
        f"by up to {high_khz / base_khz - 1:.0%} (base_frequency, scaling_max_freq)"
        if base_khz
        else ""
    )
    cost = (
        "temperature and the other cores' load change the frequency "
        f"{gain or 'by an amount that this driver does not report'}"
    )
    return WARN, "on", cost, TUNE


def check_idle_states(seen: Observation) -> Answer:
    if not seen.idle_states:
        return OK, "no idle states are in use"
    deepest = max(seen.idle_states, key=lambda state: state.exit_us)
    found = f"the deepest in use is {deepest.name}"
    if deepest.exit_us <= IDLE_EXIT_WARN_US:
        return OK, f"{found}, left within {deepest.exit_us} us"
    return (
        WARN,
        found,
        f"a wake-up from it takes up to {deepest.exit_us} us longer (cpuidle latency)",
        TUNE,
    )


def check_isolation(seen: Observation) -> Answer:
    facts = seen.facts
    if "isolated_cpus" not in facts:
        return UNKNOWN, "the kernel does not say which CPUs are isolated"
    if seen.cpu in parse_cpus(facts["isolated_cpus"]):
        ticks = "without" if seen.cpu in parse_cpus(facts.get("nohz_full_cpus", "")) else "with"
        return OK, f"CPU {seen.cpu} is isolated, {ticks} its timer tick (nohz_full)"
    cost = (
        f"{seen.activity.interrupts_per_s:.0f} interrupts a second reached CPU {seen.cpu} while "
        "this process slept"
        " (/proc/interrupts), and the scheduler places other threads there"
    )
    change = (
        f"boot with isolcpus=managed_irq,domain,{seen.cpu} nohz_full={seen.cpu}; --tune "
        "moves interrupts only"
    )
    return WARN, f"CPU {seen.cpu} is shared with every other thread", cost, change


def _has_fair_server(seen: Observation) -> bool:
    release = re.match(r"(\d+)\.(\d+)", seen.facts.get("kernel_release", ""))
    return bool(release and (int(release[1]), int(release[2])) >= (6, 12))


def check_rt_throttling(seen: Observation) -> Answer:
    runtime_us, period_us = seen.facts.get("rt_runtime_us"), seen.facts.get("rt_period_us")
    if runtime_us is None or not period_us:
        return UNKNOWN, "the kernel shows no sched_rt_runtime_us"
    # Since 6.12 a deadline server, and no longer the throttle, protects ordinary threads from FIFO
    # ones.
    if _has_fair_server(seen):
        return _fair_server(seen)
    if runtime_us < 0 or runtime_us >= period_us:
        return OK, "off"
    lost_ms, period_ms = (period_us - runtime_us) / 1000, period_us / 1000
    cost = (
        f"FIFO threads stand still for {lost_ms:.0f} of every {period_ms:.0f} ms once they "
        "use the rest (sched(7))"
    )
    return WARN, f"FIFO threads may run {runtime_us} of every {period_us} us", cost, TUNE


def _fair_server(seen: Observation) -> Answer:
    share = seen.fair_server_share
    if share == 0:
        return OK, f"the fair server of CPU {seen.cpu} is off"
    cost = (
        "an ordinary thread that waits on this CPU takes up to {:.0%} of each second from the "
        "circles ({})"
    ).format(
        *(
            (0.05, "the default of Linux 6.12 and later")
            if share is None
            else (share, "debugfs sched/fair_server")
        )
    )
    change = (
        f"isolate CPU {seen.cpu}; turning the server off in debugfs may hang the machine, "
        "so --tune leaves it"
    )
    return WARN, "the fair server reserves time for ordinary threads (SCHED_OTHER)", cost, change


# What a mitigation is known to cost: (name, what the kernel's own description of it must contain,
# cost).
_MITIGATION_COSTS = (
    (
        "meltdown",
        "PTI",
        "PTI writes CR3, some hundred cycles, at every kernel entry and exit (kernel docs, "
        "x86/pti)",
    ),
    (
        "retbleed",
        "Mitigation",
        "retbleed's costs 14 % (AMD) to 39 % (Intel) (Wikner and Razavi, USENIX Security 2022)",
    ),
)


def check_mitigations(seen: Observation) -> Answer:
    states = seen.facts.get("mitigations")
    if states is None:
        return UNKNOWN, "the kernel does not list its mitigations"
    active = sorted(name for name, state in states.items() if "Mitigation" in state)
    if not active:
        return OK, "none active"
    known = [cost for name, mark, cost in _MITIGATION_COSTS if mark in states.get(name, "")]
    cost = (
        "; ".join(known)
        or "each kernel entry contains them: the circle `syscall.null` booted with and without "
        "shows it"
    )
    change = "they are part of the kernel under test; compare only with kernels that have the same"
    return OK, f"{len(active)} active: {', '.join(active)}", cost, change


_GOOD_CLOCKSOURCES = ("tsc", "arch_sys_counter", "riscv_clocksource")


def check_clocksource(seen: Observation) -> Answer:
    source = seen.facts.get("clocksource")
    reading = (
        f"two readings of the clock are at least {seen.abilities.clock_read_ns} ns apart "
        "(measured from Python)"
    )
    if source is None:
        return UNKNOWN, "the kernel does not name its clocksource"
    if source in _GOOD_CLOCKSOURCES:
        return OK, f"{source}; {reading}"
    change = "boot with clocksource=tsc where the kernel lists it as available"
    available = seen.facts.get("clocksources_available", source)
    found = f"{source}, of {available}"
    return WARN, found, f"time is read through `{source}`: {reading}", change


def check_virtualisation(seen: Observation) -> Answer:
    facts = seen.facts.get("virtualisation")
    if facts is None:
        return UNKNOWN, "whether this machine is virtual is unknown"
    if not facts["virtual"]:
        return OK, f"a real machine ({facts.get('product', 'unnamed')})"
    cost = (
        "the host takes the CPU away and changes its frequency unseen: over 8 runs on 2 virtual "
        "CPUs the mean of an"
        " eventfd round trip moved by 6 %, its 1 % quantile by 0.24 %"
    )
    change = "measure on a real machine, or compare several sessions per side"
    return (
        WARN,
        f"a virtual machine ({facts.get('product') or facts.get('kind') or 'of unknown make'})",
        cost,
        change,
    )


def _by_share(share: float, warn_share: float, bad_share: float) -> str:
    return BAD if share >= bad_share else WARN if share >= warn_share else OK


def check_steal(seen: Observation) -> Answer:
    share = seen.activity.steal_share
    found = f"{share:.1%} of {seen.activity.seconds:g} s"
    state = _by_share(share, STEAL_WARN_SHARE, STEAL_BAD_SHARE)
    if state == OK:
        return OK, found
    cost = (
        f"the host ran something else for {share:.1%} of the time (/proc/stat); tests it hit "
        "are set aside"
    )
    return (
        state,
        found,
        cost,
        "move the virtual machine to a less busy host, or ask for dedicated CPUs",
    )


def check_other_load(seen: Observation) -> Answer:
    share = seen.activity.busy_share
    found = f"CPU {seen.cpu} was busy for {share:.0%} of {seen.activity.seconds:g} s"
    state = _by_share(share, BUSY_WARN_SHARE, BUSY_BAD_SHARE)
    if state == OK:
        return OK, found
    cost = (
        f"other work filled its caches for {share:.0%} of the time (/proc/stat) and delays "
        "unprivileged runs"
    )
    return (
        state,
        found,
        cost,
        f"stop what runs on CPU {seen.cpu} (ps -eo psr,pcpu,comm --sort -pcpu), or choose --cpu",
    )


def check_smt_sibling(seen: Observation) -> Answer:
    if not seen.siblings:
        return OK, f"CPU {seen.cpu} shares its core with no other"
    siblings = format_cpus(seen.siblings)
    cost = (
        f"the core's units and first-level caches are shared with CPU {siblings},"
        f" busy for {seen.activity.sibling_busy_share:.0%} of {seen.activity.seconds:g} s "
        "(/proc/stat)"
    )
    change = f"echo 0 > /sys/devices/system/cpu/cpu{seen.siblings[0]}/online, or boot with nosmt"
    return WARN, f"CPU {seen.cpu} shares its core with CPU {siblings}", cost, change


def check_fifo(seen: Observation) -> Answer:
    if seen.abilities.fifo:
        return OK, "this process may use SCHED_FIFO"
    # The fair scheduler's slice: 0.7 ms, times 1 + the whole log2 of the CPUs, of which no more
    # than eight count.
    slice_ms = 0.7 * min(seen.facts.get("cpu_count", 1), 8).bit_length()
    cost = (
        "circles run under the ordinary scheduler, without those that need priorities: any thread "
        f"may take a slice of about {slice_ms:.1f} ms (sched/fair.c)"
    )
    return (
        WARN,
        "the kernel refuses SCHED_FIFO",
        cost,
        "run as root, or with CAP_SYS_NICE, or with `ulimit -r 99`",
    )


def check_memlock(seen: Observation) -> Answer:
    limit_bytes = seen.abilities.memlock_bytes
    if limit_bytes is None or limit_bytes >= MEMLOCK_NEEDED_BYTES:
        return OK, "no limit that matters" if limit_bytes is None else f"{limit_bytes >> 20} MiB"
    cost = (
        "memory stays unlocked: a first touch inside a test costs "
        f"{seen.abilities.page_fault_ns} ns here (measured)"
    )
    change = (
        f"raise the limit to {MEMLOCK_NEEDED_BYTES >> 20} MiB (`ulimit -l`, limits.conf) or "
        "run as root"
    )
    return WARN, f"{limit_bytes >> 10} KiB may be locked", cost, change


def check_counters(seen: Observation) -> Answer:
    refusal = seen.abilities.cpu_events_refusal
    if not refusal:
        return OK, "events of a whole CPU can be counted"
    level = seen.facts.get("perf_event_paranoid", "unknown")
    cost = (
        "2 counters, `interrupts` and `cpu_switches`, are missing: tests that a disturbance "
        "touched are not set aside"
    )
    return (
        WARN,
        f"perf_event_open: {refusal} (perf_event_paranoid {level})",
        cost,
        f"run as root, or {TUNE}",
    )


def check_core_cycles(seen: Observation) -> Answer:
    refusal = seen.abilities.cycles_refusal
    if not refusal:
        return OK, "core cycles can be counted (--clock referenced, --clock cycles)"
    cost = (
        "the core's speed is read by a chain of instructions before and after each test, not "
        "within it (LIMITS.md), and --clock cycles is refused"
    )
    return (
        WARN,
        f"no core-cycle counter: {refusal}",
        cost,
        "measure on a machine whose counters are not hidden",
    )


def check_hardware(seen: Observation) -> Answer:
    if not seen.abilities.hardware:
        return OK, "the CPU shows none; `compare --why` has nothing to show here"
    return OK, f"proofs count {', '.join(seen.abilities.hardware)} (`compare --why`)"


def check_tracefs(seen: Observation) -> Answer:
    if seen.tracefs:
        return OK, "readable"
    if seen.abilities.may_mount:
        return OK, "not mounted; the harness mounts it for itself alone"
    cost = (
        "4 counters are missing (entries, wakeups, space_switches, interrupts): contracts on "
        "them stay unproven"
    )
    return (
        WARN,
        "not readable",
        cost,
        "run as root, or `mount -o remount,mode=755 /sys/kernel/tracing`",
    )


def check_swap(seen: Observation) -> Answer:
    total_bytes = seen.facts.get("swap_bytes")
    if total_bytes is None:
        return UNKNOWN, "the kernel shows no /proc/meminfo"
    used_bytes = total_bytes - seen.facts.get("swap_free_bytes", total_bytes)
    if used_bytes == 0:
        return OK, f"{total_bytes >> 20} MiB, none in use"
    rate = seen.activity.major_faults_per_s
    cost = (
        f"{rate:.0f} faults a second waited for a disk while this process slept "
        "(/proc/vmstat, whole machine)"
    )
    return WARN, f"{used_bytes >> 20} of {total_bytes >> 20} MiB in use", cost, "swapoff -a"


def check_timer_frequency(seen: Observation) -> Answer:
    hz = seen.facts.get("timer_hz")
    if hz is None:
        return UNKNOWN, "the kernel's configuration is not readable"
    if seen.cpu in parse_cpus(seen.facts.get("nohz_full_cpus", "")):
        return OK, f"{hz} Hz, stopped on CPU {seen.cpu} (nohz_full)"
    cost = (
        f"a tick every {1000 / hz:g} ms: a test of 1 ms contains one in "
        f"{min(hz / 1000, 1):.0%} of cases (CONFIG_HZ)"
    )
    return WARN if hz > TIMER_WARN_HZ else OK, f"{hz} Hz", cost, f"boot with nohz_full={seen.cpu}"


_BACKGROUND = (
    (
        "nmi_watchdog",
        1,
        "the lockup watchdog",
        "occupies 1 hardware counter of each CPU (lockup-watchdogs)",
    ),
    (
        "numa_balancing",
        1,
        "NUMA balancing",
        "unmaps up to 256 MiB a scan to see who faults (scan_size_mb)",
    ),
    (
        "transparent_hugepages",
        "always",
        "huge pages always",
        "make one fault clear 512 pages (2 MiB of 4 KiB pages)",
    ),
)


def check_background(seen: Observation) -> Answer:
    running = [
        (title, cost) for fact, value, title, cost in _BACKGROUND if seen.facts.get(fact) == value
    ]
    if not running:
        return OK, "no watchdog, no NUMA balancing, huge pages only on request"
    return (
        WARN,
        ", ".join(title for title, _ in running),
        "; ".join(f"{t}: {cost}" for t, cost in running),
        TUNE,
    )


def check_compiler(seen: Observation) -> Answer:
    if seen.abilities.compiler:
        return OK, seen.abilities.compiler
    return (
        BAD,
        "no C compiler",
        "the harness cannot be built: 0 circles run",
        "install gcc, or name a compiler in CC",
    )


CHECKS: dict[str, Callable[[Observation], Answer]] = {
    "governor": check_governor,
    "turbo": check_turbo,
    "idle states": check_idle_states,
    "isolation": check_isolation,
    "RT throttling": check_rt_throttling,
    "mitigations": check_mitigations,
    "clocksource": check_clocksource,
    "virtualisation": check_virtualisation,
    "steal": check_steal,
    "other load": check_other_load,
    "SMT sibling": check_smt_sibling,
    "SCHED_FIFO": check_fifo,
    "locked memory": check_memlock,
    "counters": check_counters,
    "core cycles": check_core_cycles,
    "counters per turn": check_hardware,
    "tracefs": check_tracefs,
    "swap": check_swap,
    "timer frequency": check_timer_frequency,
    "background": check_background,
    "compiler": check_compiler,
}
