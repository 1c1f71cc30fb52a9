"""The code of members on other machines: sent there before a session, brought home when somebody asks for it."""

import os
from collections.abc import Callable
from pathlib import Path

from pro0 import ssh
from pro0.errors import EnvironmentMissing, ErrorCode, Kept, NotFound, Pro0Error
from pro0.model.team import Seat
from pro0.ops import trust
from pro0.store.paths import trees_of
from pro0.store.teams import TeamStore
from pro0.worktrees import branch_of
from pro0.worktrees.travels import TRANSFER, Travelling

PATIENCE, FORCED = 600.0, 60.0
"""Seconds for a machine to make or to remove a worktree, and for each call of a cleanup with force."""


class MemberCode:
    """The code of one member on its machine."""

    def __init__(self, team: TeamStore, seat: Seat) -> None:
        config = team.config.read()
        project = Path(config.project)
        states = team.runtime.read().seats  # includes that of an earlier session, until the next one has begun
        self._repository = Travelling(project)
        self._team, self._seat = team, seat
        self._ssh = trust.settings(team.paths.home, project, os.environ).ssh
        self._name = name(team, seat)
        self.branch = next((state.branch for state in states if state.agent_id == seat.agent_id), "")
        """Its branch at home, empty when nothing was sent yet."""
        self._begun = ""
        """That branch, if a killed lead has begun it and perhaps not sent it; one with commits is a former team's."""
        first = branch_of(team.name, seat.agent_id)
        if not self.branch and self._repository.has(first) and self._repository.is_merged(first):
            self.branch = self._begun = first

    def send(self) -> str:
        """Send its branch, and have its worktree made; return the branch. A worktree that is there stays as it is."""
        is_new = bool(self._begun) or not (self.branch and self._repository.has(self.branch))
        if is_new:
            self.branch = self._repository.begin(self.branch or branch_of(self._team.name, self._seat.agent_id))
        try:
            self._repository.send(self.branch, self._seat.agent_id, self._command("receive"))
        except EnvironmentMissing:
            if is_new:
                self._repository.drop(self.branch)
            raise
        self._do("make", "--branch", self.branch)
        self._begun = ""
        return self.branch

    def bring(self, *, save: bool = False, patience: float = TRANSFER) -> str:
        """Bring its commits home, and return the newest; with `save`, first commit the uncommitted changes there."""
        if not self.branch:
            raise NotFound(f"{self._seat.agent_id} has no worktree yet", hint=f"pro0 member show {self._seat.agent_id}")
        words = ("--branch", self.branch, *(("--save",) if save else ()))
        try:
            if self._begun:
                self._repository.send(self._begun, self._seat.agent_id, self._command("receive"))
            command = self._command("give", *words)
            return self._repository.bring(self.branch, self._seat.agent_id, command, patience)
        except EnvironmentMissing as error:
            raise self._unreached(error) from error

    def leave(self, *, save: bool, force: bool) -> str:
        """Bring all commits home and remove the code there; return the branch unless it is merged, "" for none.

        Raises Kept for work that cannot come home. With `force`, wait less for a machine that does not answer.
        """
        if not self.branch:
            return ""
        tip = self.bring(save=save, patience=FORCED if force else TRANSFER)
        self._do("leave", "--branch", self.branch, "--tip", tip, patience=FORCED if force else PATIENCE)
        return "" if self._repository.drop(self.branch) else self.branch

    def _do(self, act: str, *words: str, patience: float = PATIENCE) -> None:
        answer = ssh.run(self._ssh, self._seat.host, ("pro0", "hosted", act, self._name, *words), patience)
        if answer.code:
            text = f"{self._seat.host}: {ssh.reason(answer.errors) or f'pro0 hosted {act} exited with {answer.code}'}"
            if answer.code == Kept.exit_code:
                raise Kept(text, code=ErrorCode.KEPT)
            raise EnvironmentMissing(text, hint=f"pro0 doctor --host {self._seat.host}")

    def _command(self, act: str, *words: str) -> list[str]:
        return ssh.argv(self._ssh, self._seat.host, ("pro0", "hosted", act, self._name, *words))

    def _unreached(self, error: Pro0Error) -> EnvironmentMissing:
        seat = self._seat
        text = f"the work of {seat.agent_id} cannot be brought home from {seat.host}: {error.message}"
        hint = f"brought home earlier: git log {self.branch}; check the host: pro0 doctor --host {seat.host}"
        return EnvironmentMissing(text, code=ErrorCode.UNREACHED, hint=hint)


def name(team: TeamStore, seat: Seat) -> str:
    """Return the name of a member's code on its machine: TEAM/MEMBER, with a TEAM that no later team has."""
    config = team.config.read()
    return f"{trees_of(team.paths.home, config.name, config.uid).name}/{seat.agent_id}"


def clear(team: TeamStore, show: Callable[[str], None], *, save: bool, force: bool) -> list[str]:
    """Bring home and remove the code of members on other machines; return the kept branches, and the code that stays.

    Raises EnvironmentMissing for a machine out of reach; with `force` its code stays there.
    """
    kept = []
    for seat in (seat for seat in team.wanted.read().seats if travels(seat) and seat.machine == team.machine):
        try:
            kept.append(MemberCode(team, seat).leave(save=save, force=force))
        except Pro0Error as error:
            if not (force or isinstance(error, Kept) or error.code is ErrorCode.NO_REPOSITORY):
                if isinstance(error, EnvironmentMissing):
                    error.hint = (
                        f"make the host reachable, or leave the code there: pro0 team cleanup {team.name} --force"
                    )
                raise
            show(f"the code of {seat.agent_id} stays on {seat.host}: {error.message}")
            kept.append(f"{seat.host}:{name(team, seat)}")
    return [item for item in kept if item]


def travels(seat: Seat) -> bool:
    """Return True for a member whose code is on another machine."""
    return bool(seat.host) and seat.worktree
