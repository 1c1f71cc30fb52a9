"""`pro0 agent prove`."""

import os
import shutil
import sys
from pathlib import Path

import click

from pro0.agents import adapter_named
from pro0.cli.context import caller
from pro0.cli.interrupts import Interruption, interruptible
from pro0.cli.output import json_option, live, local, say, write, write_json
from pro0.errors import EnvironmentMissing, ErrorCode, Refused
from pro0.model.caller import Who
from pro0.model.home import CheckResult, Proof, ProofCheck
from pro0.ops import proofs
from pro0.rules import proving
from pro0.scripted_model.setups import SETUPS
from pro0.store import paths

PATIENCE = 60.0


@click.command()
@click.argument("agents", metavar="[AGENT]...", nargs=-1, type=click.Choice(sorted(SETUPS)))
@click.option(
    "--patience",
    type=click.FloatRange(1, 3600),
    default=PATIENCE,
    show_default=True,
    metavar="SECONDS",
    help="How long one step may take before its check fails.",
)
@json_option
@click.pass_context
def prove(context: click.Context, agents: tuple[str, ...], patience: float, as_json: bool) -> None:
    """Test what pro0 relies on in the installed agents.

    Without AGENT it tries all of them. An agent that cannot be tried out is named at the end, exit 6.

    Each agent runs as a member in a home of its own below a temporary folder. Its model is a script on 127.0.0.1 and
    its key is a dummy, so it costs no tokens. Its requests to other machines are refused, if it uses the proxy that it
    is given. Your own settings, keys and teams are not touched.

    A feature whose check fails is switched off for that version in all later sessions, until it is proved again: pro0
    types nothing, takes the state from the process only, does not use the agent's own channel, or leaves permissions to
    the pane. Exit 1 when a check fails.

    --json prints [{agent, version, at, results: [{check, held, why}], off}].

    \b
    Examples:
      pro0 agent prove
      pro0 agent prove claude codex --patience 120
    """
    asking, _ = caller()
    if asking.who is not Who.HUMAN:
        raise Refused(f"{asking.agent_id} may not prove agents: only a person may", code=ErrorCode.NOT_ALLOWED)
    home = paths.home(os.environ)
    chosen = agents or tuple(name for name in sorted(SETUPS) if shutil.which(adapter_named(name).program))
    if not chosen:
        raise EnvironmentMissing(
            "no agent that can be tried out is installed",
            code=ErrorCode.AGENT_MISSING,
            hint=f"they are {', '.join(sorted(SETUPS))}: pro0 agent list",
        )
    proved, untried = _all_proved(home, list(dict.fromkeys(chosen)), patience, as_json=as_json)
    if as_json:
        write_json(proved)
    if untried:
        cause = next(iter(untried.values()))
        raise EnvironmentMissing(f"not tried out: {', '.join(untried)}", code=cause.code, hint=cause.hint)
    context.exit(int(any(not result.held for proof in proved for result in proof.results)))


def _all_proved(
    home: Path, agents: list[str], patience: float, *, as_json: bool
) -> tuple[list[Proof], dict[str, EnvironmentMissing]]:
    """Prove the agents and keep each proof; return the proofs, and the errors of agents that could not be tried."""
    proved, untried = [], {}
    with interruptible() as interruption:
        for name in agents:
            try:
                proved.append(_proved(name, patience, interruption, as_json=as_json))
            except EnvironmentMissing as error:
                interruption.check()
                if len(agents) == 1:
                    raise
                say(f"{name}: {error.message}")
                untried[name] = error
            else:
                proofs.keep(home, proved[-1])
    interruption.check()
    return proved, untried


def _proved(agent: str, patience: float, interruption: Interruption, *, as_json: bool) -> Proof:
    from pro0.cli.prove import run

    say(f"{agent}: its model is a script on 127.0.0.1; its proxy refuses requests to other machines")
    with live() as show:

        def begun(check: ProofCheck) -> None:
            interruption.check()
            show(f"{agent}: {check}: {proving.QUESTIONS[check]}")

        def told(result: CheckResult) -> None:
            show("")
            line = f"{agent}: {result.check}: {'holds' if result.held else f'does not hold: {result.why}'}"
            (say if as_json else write)(line)
            sys.stdout.flush()  # a check may take minutes: a reader of a pipe gets each at once

        proof, refused = run.prove(agent, run.ProofRun(patience, interruption, on_check=begun, on_result=told))
    if refused:
        say(f"{agent}: it asked for {', '.join(refused)}, and was refused")
    verdict = f"switched off: {proving.meaning(proof.off)}" if proof.off else "nothing is switched off"
    (say if as_json else write)(f"{agent} {proof.version}, {local(proof.at)}: {verdict}")
    return proof
