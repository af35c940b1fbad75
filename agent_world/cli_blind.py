"""`agent-world tasks blind`: how many tasks of an environment a blind reader could solve."""

import json
from typing import Annotated

import typer

from agent_world.cli_options import DEFAULT, Config, Machine, Overrides, find_bundle
from agent_world.settings import load_settings


def blind_tasks(
    environment: str,
    overrides: Overrides = None,
    config: Config = DEFAULT,
    sample: Annotated[int, typer.Option(min=1, help="Tasks to read.")] = 50,
    machine: Machine = False,
) -> None:
    """Compute a sample of tasks a second way, by SQL over the raw tables; exit code 1 if one is not determined."""
    from agent_world.agents.synthesizer.world import World
    from agent_world.agents.validator.blind import blind_report

    settings = load_settings(config, overrides or [])
    bundle = find_bundle(environment, settings)
    report = blind_report(World(bundle), bundle.tasks(), sample, settings.seed)
    if machine:
        failures = [{"id": name, "reason": reason} for name, reason in report.failures]
        figures = {"environment": environment, "sampled": report.sampled, "determined": report.determined}
        print(json.dumps(figures | {"failures": failures}, ensure_ascii=False, indent=1))
    else:
        print(f"{report.determined} of {report.sampled} tasks of {environment} are determined.")
        for name, reason in report.failures:
            print(f"  {name}: {reason}")
    raise typer.Exit(1 if report.failures else 0)
