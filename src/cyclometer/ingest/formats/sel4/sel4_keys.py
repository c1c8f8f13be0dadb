# SPDX-License-Identifier: BSD-2-Clause
"""The one place where sel4bench's row names become keys and contracts.

Keys are `object.operation[.condition...]`, as the reference kernel's circles:

    sel4bench row                               key

    Call, ReplyRecv, Send (FPU), L words,       endpoint.OPERATION[.fpu].words_L.{same,cross}
    in the same vspace or not
    Signal to thread, process of higher prio    notification.signal.to_{thread,process}.prio_P
    Signal to high, low prio thread             notification.signal.to_{high,low}
    Thread yield, Process yield                 thread.yield.to_{thread,process}
    Average ... Event E                         ... .average.E
    IRQ path without, with context switch       interrupt.wait.{same,cross}
    fault round trip, to and from the handler   fault.{round_trip,to_handler,from_handler}
    Hardware null_syscall thread                syscall.null
    Wait time, Broadcast time                   condvar.{wait.waiter_W,broadcast}
    Producer to consumer, Consumer to producer  condvar.{producer_to_consumer,consumer_to_producer}
    Mapping Benchmark, P pages                  page.{tables,allocate,map,protect,unprotect}.pages_P
    SMP Benchmark                               endpoint.call.smp.delay_D.cores_C
    HVC, ERET, Call and Reply from a VCPU       vcpu.{enter,leave,null_hypercall,call,reply}
    ... overhead                                overhead.*: the rig's own readings
    any of these (early processing)             ... .early
    anything else                               sel4bench.NAME, semantics unknown
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from cyclometer.bundle.model import Contract, Span
from cyclometer.ingest.parsed import slug

EARLY = " (early processing)"
SUBTRACTED = "subtracted"  # the least reading of the same code without the operation
NONE = "none"
UNKNOWN = "unknown"
_UNSTATED = Span()


@dataclass(frozen=True)
class TimedCircle:
    """What one sel4bench row times; `{}` in key and title stands for the row's own parameter."""

    key: str
    title: str
    sequence: tuple[str, ...] = ()
    interval: Span = _UNSTATED
    correction: str = SUBTRACTED
    params: dict[str, str] = field(default_factory=dict)
    early_correction: str = ""  # where the early row corrects otherwise
    unit: str = ""  # the row's own unit, where it is not the board's clock
    better: str = "lower"


def _one_way(start: str, stop: str) -> Span:
    return Span("one_way", start, stop)


_IPC = {
    "call": (
        "Call",
        "client: before Call",
        "server: Recv has returned",
        ("client: Call", "server: Recv returns"),
    ),
    "reply_receive": (
        "ReplyRecv",
        "server: before ReplyRecv",
        "client: Call has returned",
        ("server: ReplyRecv", "client: Call returns"),
    ),
    "send": (
        "Send",
        "client: before Send",
        "server: Recv has returned",
        ("client: Send", "server: Recv returns"),
    ),
}

# F4 of the field notes: the interval opens after the signal that its name speaks of.
_NOT_A_SIGNAL = (
    "high: Signal, outside the interval",
    "high: Wait blocks",
    "kernel: switch down to low",
    "low: its earlier Signal returns",
    "low: Wait returns at once",
)
_SIGNAL = ("low: Signal", "kernel: switch up to high", "high: Wait returns")
_YIELD = ("first: Yield", "kernel: switch to second", "second: Yield returns")
_IRQ = (
    "spinner: reads the clock again and again",
    "kernel: timer interrupt",
    "ticker: Wait returns",
)
_HIGHER = _one_way("high: before the blocking Wait", "low: after its own Wait")

_BY_NAME = {
    "Signal to thread of higher prio": TimedCircle(
        "notification.signal.to_thread.prio_{}",
        "blocking Wait at priority {}, switch down to a thread (not a signal)",
        _NOT_A_SIGNAL,
        _HIGHER,
        params={"space": "same", "low_priority": "0"},
    ),
    "Signal to process of higher prio": TimedCircle(
        "notification.signal.to_process.prio_{}",
        "blocking Wait at priority {}, switch down to another address space (not a signal)",
        _NOT_A_SIGNAL,
        _HIGHER,
        params={"space": "cross", "low_priority": "0"},
    ),
    "Signal to high prio thread": TimedCircle(
        "notification.signal.to_high",
        "Signal until the woken higher-priority thread returns from Wait",
        _SIGNAL,
        _one_way("low: before Signal", "high: Wait has returned"),
        params={"space": "same"},
    ),
    "Signal to low prio thread": TimedCircle(
        "notification.signal.to_low",
        "Signal to a waiting thread of lower priority, until Signal returns",
        ("high: Signal makes low ready", "high: Signal returns"),
        _one_way("high: before Signal", "high: Signal has returned"),
        params={"space": "same"},
    ),
    "Average signal to low prio thread": TimedCircle(
        "notification.signal.to_low.average.{}",
        "Signal to low-priority thread, mean of 10000: {}",
        correction=UNKNOWN,
    ),
    "Thread yield": TimedCircle(
        "thread.yield.to_thread",
        "Yield between two threads",
        _YIELD,
        _one_way("first: before Yield", "second: Yield has returned"),
        params={"space": "same"},
    ),
    "Process yield": TimedCircle(
        "thread.yield.to_process",
        "Yield between two address spaces",
        _YIELD,
        _one_way("first: before Yield", "second: Yield has returned"),
        params={"space": "cross"},
    ),
    "Average to reschedule current thread": TimedCircle(
        "thread.reschedule.average.{}",
        "reschedule the current thread, mean of 10000: {}",
        correction=UNKNOWN,
    ),
    "Average seL4_Yield (no thread switch)": TimedCircle(
        "thread.yield.no_switch.average.{}",
        "Yield with nobody to switch to, mean of 10000: {}",
        correction=UNKNOWN,
    ),
    "fault round trip": TimedCircle(
        "fault.round_trip",
        "undefined instruction, handled, and back",
        (
            "faulter: faults",
            "handler: ReplyRecv returns",
            "handler: ReplyRecv",
            "faulter: continues",
        ),
        Span("round_trip", "faulter: before the fault", "faulter: after the fault"),
    ),
    "faulter -> fault handler": TimedCircle(
        "fault.to_handler",
        "undefined instruction until its handler runs",
        ("faulter: faults", "handler: ReplyRecv returns"),
        _one_way("faulter: before the fault", "handler: ReplyRecv has returned"),
    ),
    "fault handler -> faulter": TimedCircle(
        "fault.from_handler",
        "handler's reply until the faulter continues",
        ("handler: ReplyRecv", "faulter: continues"),
        _one_way("handler: before ReplyRecv", "faulter: after the fault"),
    ),
    # F2 of the field notes: the early row's overhead is never assigned, so nothing is subtracted
    # from it.
    "Hardware null_syscall thread": TimedCircle(
        "syscall.null",
        "kernel entry and exit with no operation",
        ("thread: system call", "kernel: returns"),
        Span("round_trip", "thread: before the call", "thread: after the call"),
        early_correction=NONE,
    ),
    "Wait time": TimedCircle(
        "condvar.wait.waiter_{}", "broadcast until waiter {} runs", correction=NONE
    ),
    "Broadcast time": TimedCircle("condvar.broadcast", "broadcast to all waiters", correction=NONE),
    "Producer to consumer": TimedCircle(
        "condvar.producer_to_consumer", "producer's signal until the consumer runs", correction=NONE
    ),
    "Consumer to producer": TimedCircle(
        "condvar.consumer_to_producer", "consumer's signal until the producer runs", correction=NONE
    ),
    "SMP Benchmark": TimedCircle(
        "endpoint.call.smp.{}",
        "IPC throughput of several cores, {}",
        correction=NONE,
        unit="per_s",
        better="higher",
    ),
    "HVC Privilege Escalation": TimedCircle("vcpu.enter", "HVC: into the hypervisor"),
    "ERET Privilege De-escalation": TimedCircle("vcpu.leave", "ERET: out of the hypervisor"),
    "NULL HVC kernel hypercall invocation": TimedCircle("vcpu.null_hypercall", "empty hypercall"),
    "seL4_Call IPC from VCPU thread": TimedCircle("vcpu.call", "Call by a VCPU thread"),
    "seL4_Reply IPC to VCPU thread": TimedCircle("vcpu.reply", "Reply to a VCPU thread"),
    "Scheduler signal overhead": TimedCircle(
        "overhead.signal.scheduler", "rig: Signal without the call", correction=NONE
    ),
    "Signal overhead": TimedCircle(
        "overhead.signal", "rig: Signal without the system call", correction=NONE
    ),
    "Read ccnt overhead": TimedCircle(
        "overhead.read_clock", "rig: reading the cycle counter", correction=NONE
    ),
    "read ccnt overhead": TimedCircle(
        "overhead.read_clock.fault", "rig: reading the cycle counter", correction=NONE
    ),
    "fault overhead": TimedCircle(
        "overhead.fault", "rig: ReplyRecv without the system call", correction=NONE
    ),
    "Nop syscall overhead": TimedCircle(
        "overhead.nop_syscall", "rig: null system call without the call", correction=NONE
    ),
    "Measurement overhead": TimedCircle(
        "overhead.interrupt", "rig: reading the cycle counter twice", correction=NONE
    ),
    "Without context switch": TimedCircle(
        "interrupt.wait.same",
        "timer interrupt until the waiting driver runs, same address space",
        _IRQ,
        _one_way("spinner: last reading before the interrupt", "ticker: Wait has returned"),
        params={"space": "same"},
    ),
    "With context switch": TimedCircle(
        "interrupt.wait.cross",
        "timer interrupt until the waiting driver runs, other address space",
        _IRQ,
        _one_way("spinner: last reading before the interrupt", "ticker: Wait has returned"),
        params={"space": "cross"},
    ),
}

_PHASES = {
    "Prepare Page Tables": "tables",
    "Allocate Pages": "allocate",
    "Mapping": "map",
    "Protect Pages as Read Only": "protect",
    "Unprotect Pages": "unprotect",
}


@dataclass(frozen=True)
class KnownRow:
    """A row's contract, with the unit it needs (empty: the board's clock) and which way is
    better.
    """

    contract: Contract
    unit: str = ""
    better: str = "lower"


@lru_cache(maxsize=4096)
def ipc(
    function: str, same_space: bool, words: int, priorities: tuple[str, str] = ("", "")
) -> KnownRow:
    """The contract of a row of the IPC benchmark: `function` as printed, for example `seL4_Call
    (FPU)`.

    `priorities` of client and server where the source names them; otherwise they are those of
    sel4bench.
    """
    name, fpu = function.removeprefix("seL4_"), " (FPU)" in function
    operation = {"Call": "call", "ReplyRecv": "reply_receive", "Send": "send"}.get(
        name.removesuffix(" (FPU)")
    )
    space = "same" if same_space else "cross"
    if operation is None:
        return KnownRow(
            Contract(
                f"sel4bench.ipc.{slug(name)}.words_{words}.{space}", function, correction=UNKNOWN
            )
        )
    title, start, stop, sequence = _IPC[operation]
    params = {
        "words": str(words),
        "space": space,
        "client_priority": priorities[0] or ("253" if operation == "send" else "254"),
        "server_priority": priorities[1] or "254",
    } | ({"fpu": "server"} if fpu else {})
    key = f"endpoint.{operation}{'.fpu' if fpu else ''}.words_{words}.{space}"
    where = "one address space" if same_space else "two address spaces"
    title = f"{title}, {words} words, {where}"
    return KnownRow(
        Contract(key, title, sequence, _one_way(start, stop), params=params, correction=SUBTRACTED)
    )


@lru_cache(maxsize=4096)
def page_mapping(phase: str, pages: int) -> KnownRow:
    """The contract of a row of the mapping benchmark."""
    operation = _PHASES.get(phase, slug(phase))
    title = f"{phase.lower()}: {pages} pages"
    return KnownRow(
        Contract(
            f"page.{operation}.pages_{pages}",
            title,
            params={"pages": str(pages)},
            correction=UNKNOWN,
        )
    )


@lru_cache(maxsize=4096)
def named(benchmark: str, parameter: str = "") -> KnownRow:
    """The contract of any other row. `parameter` distinguishes rows of one name: priority, event,
    waiter ...
    """
    early = benchmark.endswith(EARLY)
    name = benchmark.removesuffix(EARLY)
    circle = _BY_NAME.get(name)
    if circle is None:
        key = ".".join(["sel4bench", slug(name)] + ([slug(parameter)] if parameter else []))
        return KnownRow(Contract(_early(key, early), benchmark, correction=UNKNOWN))
    average = circle.key.endswith(".average.{}")
    contract = Contract(
        key=_early(circle.key.replace("{}", _part(parameter)), early),
        title=circle.title.replace("{}", parameter)
        + (", sums kept instead of values" if early else ""),
        sequence=circle.sequence,
        interval=circle.interval,
        params=circle.params | ({"parameter": parameter} if "{}" in circle.key else {}),
        correction=circle.early_correction
        if early and circle.early_correction
        else circle.correction,
    )
    return KnownRow(
        contract, _EVENT_UNITS.get(parameter, "events") if average else circle.unit, circle.better
    )


_EVENT_UNITS = {"Cycle counter": "", "Instructions": "instructions"}


def _early(key: str, early: bool) -> str:
    return f"{key}.early" if early else key


def _part(parameter: str) -> str:
    return ".".join(slug(part) for part in parameter.split("/"))
