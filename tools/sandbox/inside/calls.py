"""Which system calls a process behind the wall may make, by name, with their numbers on x86-64 and arm64.

What is named nowhere here is refused. A number is -1 where an architecture has no such call. Sources: the kernel's
arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h, against which the tests check them.
"""

Table = dict[str, tuple[int, int]]
FILES: Table = {
    "read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66), "pread64": (17, 67),
    "pwrite64": (18, 68), "preadv": (295, 69), "pwritev": (296, 70), "preadv2": (327, 286), "pwritev2": (328, 287),
    "open": (2, -1), "openat": (257, 56), "creat": (85, -1), "close": (3, 57), "close_range": (436, 436),
    "lseek": (8, 62), "stat": (4, -1), "lstat": (6, -1), "fstat": (5, 80), "newfstatat": (262, 79),
    "statx": (332, 291), "access": (21, -1), "faccessat": (269, 48), "faccessat2": (439, 439), "readlink": (89, -1),
    "readlinkat": (267, 78), "getdents": (78, -1), "getdents64": (217, 61), "getcwd": (79, 17), "chdir": (80, 49),
    "fchdir": (81, 50), "mkdir": (83, -1), "mkdirat": (258, 34), "rmdir": (84, -1), "unlink": (87, -1),
    "unlinkat": (263, 35), "rename": (82, -1), "renameat": (264, 38), "renameat2": (316, 276), "link": (86, -1),
    "linkat": (265, 37), "symlink": (88, -1), "symlinkat": (266, 36), "truncate": (76, 45), "ftruncate": (77, 46),
    "fallocate": (285, 47), "fadvise64": (221, 223), "fsync": (74, 82), "fdatasync": (75, 83), "flock": (73, 32),
    "dup": (32, 23), "dup2": (33, -1), "dup3": (292, 24), "pipe": (22, -1), "pipe2": (293, 59), "umask": (95, 166),
    "sendfile": (40, 71), "copy_file_range": (326, 285), "statfs": (137, 43), "fstatfs": (138, 44),
    "getxattr": (191, 8), "lgetxattr": (192, 9), "fgetxattr": (193, 10), "listxattr": (194, 11),
    "llistxattr": (195, 12), "flistxattr": (196, 13),
}  # fmt: skip
"""Ordinary work with files; which ones is for mounts and Landlock to say."""

RUNNING: Table = {
    "mmap": (9, 222), "munmap": (11, 215), "mremap": (25, 216), "mprotect": (10, 226), "madvise": (28, 233),
    "msync": (26, 227), "mincore": (27, 232), "brk": (12, 214), "futex": (202, 98), "set_robust_list": (273, 99),
    "rseq": (334, 293), "set_tid_address": (218, 96), "gettid": (186, 178), "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123), "sched_getparam": (143, 121), "sched_getscheduler": (145, 120),
    "sched_get_priority_max": (146, 125), "sched_get_priority_min": (147, 126), "getcpu": (309, 168),
    "exit": (60, 93), "exit_group": (231, 94), "restart_syscall": (219, 128), "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "rt_sigpending": (127, 136), "rt_sigsuspend": (130, 133),
    "rt_sigtimedwait": (128, 137), "sigaltstack": (131, 132), "pause": (34, -1), "alarm": (37, -1),
    "setitimer": (38, 103), "getitimer": (36, 102), "clock_gettime": (228, 113), "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115), "nanosleep": (35, 101), "gettimeofday": (96, 169), "time": (201, -1),
    "times": (100, 153), "getrusage": (98, 165), "getpid": (39, 172), "getppid": (110, 173), "getuid": (102, 174),
    "geteuid": (107, 175), "getgid": (104, 176), "getegid": (108, 177), "getresuid": (118, 148),
    "getresgid": (120, 150), "getgroups": (115, 158), "getpgrp": (111, -1), "getpgid": (121, 155),
    "getsid": (124, 156), "capget": (125, 90), "getpriority": (140, 141), "getrlimit": (97, 163),
    "setrlimit": (160, 164), "uname": (63, 160), "getrandom": (318, 278), "arch_prctl": (158, -1),
}  # fmt: skip
"""Memory, threads, signals to oneself, clocks, and looking at oneself."""

WAITING: Table = {
    "poll": (7, -1), "ppoll": (271, 73), "select": (23, -1), "pselect6": (270, 72), "epoll_create": (213, -1),
    "epoll_create1": (291, 20), "epoll_ctl": (233, 21), "epoll_wait": (232, -1), "epoll_pwait": (281, 22),
    "epoll_pwait2": (441, 441), "eventfd": (284, -1), "eventfd2": (290, 19), "sendto": (44, 206),
    "recvfrom": (45, 207), "recvmsg": (47, 212), "shutdown": (48, 210), "getsockname": (51, 204),
    "getpeername": (52, 205), "getsockopt": (55, 209),
}  # fmt: skip
"""For descriptors, and talking over those that are there already. No descriptor can be passed on (sendmsg)."""

COMPANY: Table = {
    "fork": (57, -1), "vfork": (58, -1), "execve": (59, 221), "wait4": (61, 260), "waitid": (247, 95),
    "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "setsid": (112, 157), "setpgid": (109, 154),
    "chmod": (90, -1), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, -1),
    "fchown": (93, 55), "lchown": (94, -1), "fchownat": (260, 54), "utime": (132, -1), "utimes": (235, -1),
    "futimesat": (261, -1), "utimensat": (280, 88),
}  # fmt: skip
"""Other processes, and the attributes of files, which Landlock does not guard: where others are out of reach."""

FOREIGN: Table = {
    "execve": (59, 221), "wait4": (61, 260), "waitid": (247, 95), "sysinfo": (99, 179), "sendmsg": (46, 211),
    "setsockopt": (54, 208), "membarrier": (324, 283), "timerfd_create": (283, 85), "timerfd_settime": (286, 86),
    "timerfd_gettime": (287, 87), "inotify_init1": (294, 26), "inotify_add_watch": (254, 27),
    "inotify_rm_watch": (255, 28), "pkey_alloc": (330, 289), "pkey_free": (331, 290), "pkey_mprotect": (329, 288),
    "sched_setaffinity": (203, 122),
}  # fmt: skip
"""What other language runtimes need beside: Node.js, and event loops in general."""

UNKNOWN: Table = {
    "clone3": (435, 435), "openat2": (437, 437),
}  # fmt: skip
"""Answered as by a kernel that does not know them, so that the C library takes an older call: no filter can see
the arguments of these."""

CHECKED: Table = {
    "clone": (56, 220), "prlimit64": (302, 261), "ioctl": (16, 29), "fcntl": (72, 25), "prctl": (157, 167),
    "socketpair": (53, 199), "mknod": (133, -1), "mknodat": (259, 33),
}  # fmt: skip
"""Allowed for some arguments only: `filters` says which."""

NEWER = 454
"""The first number, on both architectures, that came after these tables: such calls are `UNKNOWN` as well."""
