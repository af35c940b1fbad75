"""Maps the top-level folders to subpackages: `graphs/` installs and imports as `agent_world.graphs`, and so on."""

from setuptools import find_packages, setup

FOLDERS = ("tools", "memory", "agents", "graphs", "evals", "training", "examples")

setup(
    packages=["agent_world"]
    + [
        f"agent_world.{name}"
        for folder in FOLDERS
        for name in (folder, *(f"{folder}.{p}" for p in find_packages(folder)))
    ],
    package_dir={"agent_world": "agent_world"} | {f"agent_world.{folder}": folder for folder in FOLDERS},
    package_data={
        "": ["py.typed", "*.html", "*.jinja", "*.md", "*.json", "*.yaml", "*.css", "*.txt"],
        "agent_world.examples.web": ["templates/*"],
    },
)
