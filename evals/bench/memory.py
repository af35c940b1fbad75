"""Memory in megabytes, as the kernel accounts for it."""

from collections.abc import Iterable
from pathlib import Path

from agent_world.tools.runtime import Runtime


def available() -> float:
    """MemAvailable of the machine."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) / 1024
    raise OSError("/proc/meminfo has no line MemAvailable")


def proportional_share(pids: Iterable[int]) -> float | None:
    """Sum of the PSS of these processes; None where the kernel does not let us see one of them."""
    total = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except FileNotFoundError:
            continue
        except (PermissionError, ProcessLookupError):
            return None
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def session_of(runtime: Runtime) -> list[int]:
    """Processes of the session in which the local backend's zygote and all its instances are."""
    group = getattr(getattr(runtime, "launcher", None), "group", 0)
    return [pid for pid in map(int, _numbers(Path("/proc"))) if group and _session(pid) == group]


def _numbers(proc: Path) -> list[str]:
    return [path.name for path in proc.iterdir() if path.name.isdigit()]


def _session(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[3])
    except (FileNotFoundError, ProcessLookupError):
        return 0
