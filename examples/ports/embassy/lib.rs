// SPDX-License-Identifier: BSD-2-Clause
//
// Embassy on RISC-V, in machine mode: its executor polls tasks that wait for each other. The
// circles are here; ../records.c times them and prints the records, or ../thirty_lines.c one.
#![no_std]

use core::ffi::{c_char, c_void};
use core::sync::atomic::{AtomicBool, Ordering};
use core::{mem::transmute, panic::PanicInfo, ptr::null_mut};

use embassy_executor::raw::Executor;
use embassy_executor::task;
use embassy_futures::yield_now;
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::signal::Signal;
use riscv as _; // its critical section, which masks interrupts

type Event<T> = Signal<CriticalSectionRawMutex, T>;
type Turns = unsafe extern "C" fn(*mut c_void, u64);

// ../records.h, ../thirty_lines.c and ../riscv/board.h
extern "C" {
    fn record_hello(target: *const c_char, kernel: *const c_char);
    fn record_circle(key: *const c_char, title: *const c_char, run: Turns, arg: *mut c_void);
    fn record_end();
    fn time_turns(run: Turns, arg: *mut c_void);
    fn board_print(bytes: *const u8, length: usize);
    fn board_end(failed: bool) -> !;
}

#[no_mangle]
extern "C" fn record_put(byte: u8) {
    unsafe { board_print(&byte, 1) }
}

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    unsafe { board_end(true) }
}

// Embassy calls this when a task is ready; the loop in run() polls without being told.
#[no_mangle]
fn __pender(_: *mut ()) {}

static YIELDS: Event<u64> = Signal::new();
static ROUND_TRIPS: Event<u64> = Signal::new();
static REQUEST: Event<()> = Signal::new();
static REPLY: Event<()> = Signal::new();
static DONE: AtomicBool = AtomicBool::new(false);

#[task]
async fn yielding() {
    loop {
        for _ in 0..YIELDS.wait().await {
            yield_now().await;
        }
        DONE.store(true, Ordering::Relaxed);
    }
}

#[task]
async fn client() {
    loop {
        for _ in 0..ROUND_TRIPS.wait().await {
            REQUEST.signal(());
            REPLY.wait().await;
        }
        DONE.store(true, Ordering::Relaxed);
    }
}

#[task]
async fn server() {
    loop {
        REQUEST.wait().await;
        REPLY.signal(());
    }
}

// Gives a task its turns, and polls until it has made them.
fn run(executor: *mut c_void, start: &Event<u64>, turns: u64) {
    let executor = unsafe { &*(executor as *const Executor) };
    DONE.store(false, Ordering::Relaxed);
    start.signal(turns);
    while !DONE.load(Ordering::Relaxed) {
        unsafe { executor.poll() }
    }
}

unsafe extern "C" fn yields(executor: *mut c_void, turns: u64) {
    run(executor, &YIELDS, turns)
}

unsafe extern "C" fn round_trips(executor: *mut c_void, turns: u64) {
    run(executor, &ROUND_TRIPS, turns)
}

#[no_mangle]
extern "C" fn main() -> ! {
    let local = Executor::new(null_mut());
    // main() never returns
    let executor: &'static Executor = unsafe { transmute(&local) };
    let spawner = executor.spawner();
    spawner.spawn(yielding().unwrap());
    spawner.spawn(client().unwrap());
    spawner.spawn(server().unwrap());
    let arg = executor as *const Executor as *mut c_void;
    #[cfg(feature = "one")]
    unsafe {
        time_turns(round_trips, arg);
        board_end(false)
    }
    #[cfg(not(feature = "one"))]
    unsafe {
        record_hello(c"embassy-virt".as_ptr(), c"embassy-executor 0.10.0".as_ptr());
        let title = c"A task yields, and is polled again";
        record_circle(c"task.yield".as_ptr(), title.as_ptr(), yields, arg);
        let title = c"A signal to another task, and one back";
        record_circle(c"signal.round_trip".as_ptr(), title.as_ptr(), round_trips, arg);
        record_end();
        board_end(false)
    }
}
