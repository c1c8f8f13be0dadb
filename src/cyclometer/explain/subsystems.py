# SPDX-License-Identifier: BSD-2-Clause
"""Which subsystem of Linux each step of a turn serves: by the source directory of its instruction
where the symbols have lines, else by what functions are called.

A helper that any subsystem may call (a copy, an iterator) serves the one that called it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from cyclometer.explain.calls import USER, system_calls
from cyclometer.explain.frames import Path
from cyclometer.explain.linux_events import SYSTEM_CALLS

OTHER = "other"

# Subsystem, the files that are its own, and how the names of its functions begin. The first line
# that fits decides. Names are those of Linux 6.1 to 6.18 on x86-64, arm64 and RISC-V.
_TABLE = (
    (
        "mitigations",
        r"arch/x86/lib/retpoline",
        r"srso_|retbleed_|__x86_(indirect|return)_|entry_(untrain|ibpb)|clear_bhb|its_|untrain_",
    ),
    (
        "entry",
        r"arch/\w+/entry/|kernel/entry/|arch/\w+/kernel/(entry|syscall|traps)|include/linux/entry",
        r"entry_|syscall_|do_syscall|x64_sys_call|(arch_)?exit_to_user|swapgs|irqentry_|error_|"
        r"paranoid_|asm_exc|native_irq_return|native_iret|sync_regs|amd_clear_divider|el[01]|"
        r"invoke_syscall|do_el|ret_to_|handle_exception|do_trap_ecall|enter_from_|"
        r"__?rseq|rseq_|task_work|__(rd|wr)gsbase",
    ),
    (
        "timer",
        r"kernel/time/|drivers/clocksource/|arch/\w+/kernel/tsc",
        r"_*hrtimer|_*ktime_|timekeeping|tick_|clockevents|timer|_*lapic|read_tsc|update_process_t|"
        r"update_wall|posix_(timer|cpu|clock|get)|run_posix|_*sysvec_apic_timer|asm_sysvec_apic_t|"
        r"do_nanosleep|clock_|common_(timer|nsleep)|arch_timer|run_timer|_*mod_timer|calc_global|"
        r"nsec_to|jiffies|get_timespec64|put_timespec64|it_real|do_timer|do_setitimer",
    ),
    (
        "interrupts",
        r"kernel/(irq|softirq)|arch/\w+/kernel/(irq|apic)",
        r"_*irq_|_*do_softirq|handle_(irq|softirq)|common_interrupt|_*sysvec|asm_|gic_|plic_|"
        r"generic_handle|raise_softirq|call_on_",
    ),
    (
        "signal",
        r"kernel/signal|arch/\w+/kernel/signal|fs/signalfd",
        r"signal|_*send_sig|do_send_s|do_signal|get_signal|_*dequeue_sig|.*sigreturn|.*sigframe|"
        r"_*set_current_blocked|_*sigprocmask|arch_do_signal|_*kill_|do_tkill|do_rt_sig|sigsuspend|"
        r"recalc_sig|complete_signal|prepare_signal|handle_signal|_*sigqueue|.*_siginfo|group_send",
    ),
    (
        "futex",
        r"kernel/futex",
        r"_*futex|do_futex|get_futex|_*unqueue_pi|fault_in_user_writ|attach_to_pi|lookup_pi",
    ),
    (
        "locking",
        r"kernel/locking/",
        r"_*mutex_|_*rt_mutex|_*rwsem|down_|up_(read|write)|_*raw_(spin|read|write)|queued_|"
        r"native_queued|_*rt_(spin|read|write)|_*rwbase|_*local_bh|plist_|task_blocks_on",
    ),
    ("rcu", r"kernel/rcu/", r"_*rcu_|srcu|note_gp|call_rcu"),
    (
        "sched",
        r"kernel/sched/|arch/\w+/kernel/(process|fpu)|arch/x86/mm/tlb",
        r"_*schedule|_*sched_|scheduler|try_to_wake|ttwu|_*wake_|default_wake|autoremove_wake|"
        r"prepare_(to|task)|finish_(wait|task|swait)|init_wait|(add|remove)_wait|_*swake|"
        r"(en|de)queue_|_*pick_|put_prev|set_next|check_preempt|wakeup_preempt|update_(rq|curr|rt|"
        r"load|cfs|se|min_v|entity|avg)|balance_|_*balance|psi_|record_times|native_sched|"
        r"_*switch_|_*resched|task_(tick|woken|fork|dead)|cpuacct|_*account_|acct_|place_entity|"
        r"reweight|mm_cid|_*do_sched|do_sched|yield|select_task|select_idle|migrate_|_*migrate|"
        r"push_|pull_|inc_rt|dec_rt|cpupri|load_new_mm|cr4_|save_fp|restore_fp|fpregs|xfd_|"
        r"native_load_tls|cpu_switch|fpsimd|_*cond_resched|preempt_|do_wait_intr|idle_|do_idle|"
        r"_*fpu|finish_arch|_*set_task_cpu|dl_|_*calc_delta|vruntime|avg_vrun",
    ),
    (
        "lsm and audit",
        r"security/|kernel/(audit|seccomp)",
        r"security_|apparmor_|aa_|selinux|avc_|bpf_lsm|cap_|_*audit|tomoyo|landlock|_*seccomp|"
        r"_*secure_|common_perm|profile_|label_",
    ),
    ("pipe", r"fs/pipe", r"pipe_|anon_pipe|do_pipe|_*do_pipe|create_pipe|wait_for_partner"),
    (
        "io_uring",
        r"io_uring/",
        r"_*io_(uring|submit|sq|cq|req|issue|queue|get|poll|msg|read|write|run|fill|free|alloc|nop)|"
        r"_*do_sys_io_uring",
    ),
    (
        "net",
        r"net/|drivers/net/",
        r"_*sock_|_*sk_|_*skb|_*tcp_|udp_|inet_|ip_|_*ip_|unix_|_*sys_(send|recv|accept|connect|"
        r"bind|listen|socket)|_*netif|nf_|loopback|process_backlog|_*dev_(queue|hard|xmit)|"
        r"_*napi|net_|move_addr|consume_skb|kfree_skb|_*release_sock|lock_sock|scm_|ipv[46]|neigh",
    ),
    (
        "mm",
        r"mm/|arch/\w+/mm/|lib/maple_tree|include/linux/mm",
        r"handle_mm|_*handle_pte|do_(anonymous|fault|wp|user_addr|page_fault|mem_abort|mmap|munmap|"
        r"brk|vmi|mprotect|madvise|swap|cow|read_fault|mas)|exc_page|wp_page|_*alloc_pages|"
        r"alloc_(pages|anon|zeroed|vma)|_*free_(unref|pcp|pages|one|pgd|pgtab|frozen)|_*rmqueue|"
        r"get_page|_*put_page|_*folio|lru_|_*mmap|_*munmap|_*vm_|_*vma|mas_|mt_|mtree|_*pte_|_*pmd|"
        r"_*pud|_*p4d|kmem_|_*kmem|_*kmalloc|_*kfree|kfree|_*slab|_*slub|gup_|_*get_user_pages|"
        r"internal_get_user|is_valid_gup|try_grab|try_get_folio|unmap_|zap_|_*tlb|flush_tlb|"
        r"_*mem_cgroup|_*memcg|obj_cgroup|refill_|_*page_|page_|get_pfnblock|vmf_|set_pte|filemap|"
        r"_*count_memcg|_*mod_|perform_|mm_|_*mm_|exit_mmap|clear_page|clear_huge|lock_vma|"
        r"native_(set|flush)|madvise|mprotect|change_(prot|pte|pmd)|_*anon_vma|copy_(pte|pmd|page_r)",
    ),
    (
        "ipc",
        r"ipc/",
        r"mq_|mqueue|do_mq|_*do_(msg|sem|shm)|msg_|load_msg|store_msg|free_msg|sem_|ipc_|wq_|"
        r"pipelined_|perform_atomic_sem|shm_",
    ),
    (
        "process",
        r"kernel/(fork|exit|pid|cred|exec_domain|sys|nsproxy)|fs/exec|fs/binfmt",
        r"copy_process|kernel_clone|_*do_exit|do_group_exit|do_wait|_*wait_consider|kernel_wait|"
        r"dup_|begin_new_exec|bprm|load_elf|do_execve|release_task|exit_|free_(pid|task)|alloc_pid|"
        r"_*put_task|_*put_cred|copy_(creds|files|sig|thread|fs|mm)|prepare_creds|_*task_pid|"
        r"find_(vpid|task|get)|put_pid|get_pid|_*do_sys_get|kthread|ret_from_fork|proc_",
    ),
    (
        "vfs",
        r"fs/|include/linux/fs",
        r"vfs_|ksys_|fdget|_*fget|_*fdget|_*fput|fput|rw_verify|file_|touch_atime|atime|inode_|"
        r"_*inode|current_time|_*fsnotify|do_sys(_open|_poll)|do_sys_|do_filp|path_|link_path|_*dput|"
        r"dput|_*d_|dentry|_*lookup|generic_|new_sync|do_iter|kill_fasync|_*get_task_iop|eventfd|"
        r"timerfd|_*ep_|_*epoll|do_epoll|_*poll|core_sys_sel|do_select|kern_select|filp|getname|"
        r"_*do_sys|cp_new_stat|alloc_(fd|file|empty)|_*mnt|mntput|simple_|shmem|ext4|close_fd|"
        r"filename|step_into|walk_|may_open|terminate_walk|locks_|page_get_link|put_unused|get_unus",
    ),
)
_FILES = tuple((name, re.compile(files)) for name, files, _ in _TABLE)
_FUNCTIONS = tuple((name, re.compile(functions)) for name, _, functions in _TABLE)


def subsystems(open_at: Sequence[Path], files: Sequence[str], user: Sequence[bool]) -> list[str]:
    """Of each step the subsystem; `files` are those of the kernel's instructions, empty where
    unknown. Empty without any system call or fault of Linux.
    """
    if not system_calls(open_at, user):
        return []
    served = {path: _served(path) for path in dict.fromkeys(open_at)}
    return [
        USER if outside else _by_file(file) or served[path]
        for path, file, outside in zip(open_at, files, user, strict=True)
    ]


def _served(path: Path) -> str:
    """That of the innermost function that is one of a subsystem."""
    return next(filter(None, map(_by_name, reversed(path))), OTHER)


@cache
def _by_name(function: str) -> str:
    if function.startswith(SYSTEM_CALLS):
        return "entry"
    return next((name for name, known in _FUNCTIONS if known.match(function)), "")


@cache
def _by_file(file: str) -> str:
    return next((name for name, known in _FILES if file and known.match(file)), "")
