"""Types and import direction: a folder of links gives both checkers the layout that installation gives Python."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = ("tools", "memory", "agents", "graphs", "evals", "training", "examples")


def link_package(folder: Path) -> None:
    package = folder / "agent_world"
    package.mkdir()
    for path in (ROOT / "agent_world").iterdir():
        if path.name != "__pycache__":
            (package / path.name).symlink_to(path)
    for name in FOLDERS:
        (package / name).symlink_to(ROOT / name)


def run(name: str, command: list[str], folder: str) -> bool:
    environment = os.environ | {"PYTHONPATH": folder}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if result.returncode:
        print(f"{name}:\n{result.stdout}{result.stderr}")
    return result.returncode == 0


def main() -> int:
    tools = Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as folder:
        link_package(Path(folder))
        mypy = [str(tools / "mypy"), "--config-file", str(ROOT / "mypy.ini"), "--cache-dir", str(ROOT / ".mypy_cache")]
        imports = [str(tools / "lint-imports"), str(ROOT / ".importlinter"), "--no-cache"]
        ok = run("types", [*mypy, "-p", "agent_world"], folder)
        ok &= run("imports", imports, folder)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
