"""A seccomp filter that lets a sandboxed program run, but not start another process. Threads are allowed.

Where it stands: `grading.sandbox` hands the filter to bubblewrap. RLIMIT_NPROC would be simpler, but it
counts all processes of the user, and the kernel does not apply it to root, as whom containers and CI run.
"""

import errno
import platform
import struct

# audit architecture number, then the numbers of: clone, clone3, and the older calls that only start processes
CALLS = {
    "x86_64": (0xC000003E, 56, 435, (57, 58)),  # fork, vfork
    "aarch64": (0xC00000B7, 220, 435, ()),
}
CLONE_THREAD = 0x00010000
ALLOW, REFUSE = 0x7FFF0000, 0x00050000  # SECCOMP_RET_ALLOW; SECCOMP_RET_ERRNO, the error's number is added
LOAD, JUMP_IF_EQUAL, JUMP_IF_AT_LEAST, JUMP_IF_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
SYSCALL_NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data


def supported(machine=None):
    """Tell whether the filter can be written for this kind of processor."""
    return (machine or platform.machine()) in CALLS


def no_new_processes(machine=None):
    """The filter as bytes, a classic BPF program.

    >>> len(no_new_processes("x86_64")) % 8
    0
    """
    architecture, clone, clone3, others = CALLS[machine or platform.machine()]
    refuse = [(RETURN, 0, 0, REFUSE | errno.EPERM)]
    program = [(LOAD, 0, 0, ARCHITECTURE), (JUMP_IF_EQUAL, 1, 0, architecture), *refuse]
    program += [(LOAD, 0, 0, SYSCALL_NUMBER)]
    program += [(JUMP_IF_AT_LEAST, 0, 1, 0x40000000), *refuse]  # the x32 calls, a second door on x86_64
    for number in others:
        program += [(JUMP_IF_EQUAL, 0, 1, number), *refuse]
    # "no such call" makes the C library fall back to clone, whose flags a filter can see
    program += [(JUMP_IF_EQUAL, 0, 1, clone3), (RETURN, 0, 0, REFUSE | errno.ENOSYS)]
    program += [(JUMP_IF_EQUAL, 0, 3, clone), (LOAD, 0, 0, FIRST_ARGUMENT)]
    program += [(JUMP_IF_ANY_BIT, 1, 0, CLONE_THREAD), *refuse]
    program += [(RETURN, 0, 0, ALLOW)]
    return b"".join(struct.pack("HBBI", code, yes, no, value) for code, yes, no, value in program)
