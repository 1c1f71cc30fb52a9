"""Briefs: the facts an adapter needs to start a session, and the agent's start files."""

import sys
from collections.abc import Mapping
from contextlib import suppress

from pro0.agents import can_go_on
from pro0.agents.adapter import Adapter, Brief, SessionView
from pro0.errors import NotFound
from pro0.model.ids import LEAD
from pro0.model.runtime import SeatState
from pro0.model.task import Task
from pro0.model.team import Seat, TeamConfig
from pro0.ops.context import lead_context
from pro0.ops.tasks import roles, tasks
from pro0.rules.lead.permissions import permission_mode
from pro0.rules.tasks import answers
from pro0.rules.tasks.answers import Remark
from pro0.rules.words import assignment
from pro0.rules.words.assignment import Assignment, Told
from pro0.rules.words.welcome import Welcome, first_prompt
from pro0.store import atomic
from pro0.store.files import add_links, delete
from pro0.store.teams import Store, TeamStore

PRO0 = (sys.executable, "-I", "-m", "pro0")


class Briefs:
    """Writes the briefs of one team."""

    def __init__(self, team: TeamStore, config: TeamConfig) -> None:
        self._team = team
        self._config = config

    def brief(
        self,
        seat: Seat,
        adapter: Adapter,
        state: SeatState,
        environment: Mapping[str, str],
        task: Task | None = None,
    ) -> Brief:
        """Return the brief of one session, for one `task` or none. An earlier conversation resumes if the agent can."""
        resume = bool(state.session) and self._can_go_on(adapter, state, environment)
        chosen = state.incarnation if adapter.session_ids == "chosen" else ""
        return Brief(
            seat=seat,
            prompt="" if resume else self._prompt(seat, task, state.branch),
            mode=permission_mode(seat, self._team.wanted.read(), self._config),
            delegate_only=seat.delegates,
            session=state.session if resume else chosen,
            resume=resume,
            folder=str(self._team.paths.agent_folder(state.incarnation)),
            cwd=state.worktree or self._config.project,
            project=self._config.project,
            environment=environment,
            pro0=PRO0,
            asks_by_hook=adapter.asks_by_hook,
            mailbox=str(self._team.mailbox(seat.agent_id).head.path),
        )

    def write_agent_files(self, incarnation: str, files: Mapping[str, bytes], links: Mapping[str, str]) -> None:
        """Write an agent's start files and links into its session's own folder."""
        place = self._team.paths.agent_folder(incarnation)
        with suppress(OSError):
            delete(place)
        if files:
            place.mkdir(mode=0o700)
            with atomic.folder(place) as folder:
                for name, data in files.items():
                    atomic.replace(folder, name, data)
            add_links(place, links)

    def _can_go_on(self, adapter: Adapter, state: SeatState, environment: Mapping[str, str]) -> bool:
        """Return True when an earlier conversation can be resumed; raises EnvironmentMissing when nobody can tell."""
        if adapter.session_ids == "none":
            return False
        session_view = SessionView(
            session=state.session,
            agent=None,
            started_at=state.started_at,
            cwd=state.worktree or self._config.project,
            folder="",
            environment=environment,
        )
        return can_go_on(adapter, session_view, state.agent_id)

    def _prompt(self, seat: Seat, task: Task | None, branch: str) -> str:
        return self._assignment(seat, task, branch) if task else self._welcome(seat, branch)

    def _welcome(self, seat: Seat, branch: str) -> str:
        seats = [member for member in self._team.wanted.read().seats if not member.task]
        teammates = [member.agent_id for member in seats if member.agent_id != seat.agent_id]
        welcome = Welcome(
            team=self._config.name,
            agent_id=seat.agent_id,
            project=self._config.project,
            others=teammates,
            prompt=seat.prompt,
            delegates=seat.delegates,
            branch=branch,
            host=seat.host,
            plans=seat.gate is not None and not seat.gate.approved,
            plan=seat.gate.text if seat.gate and seat.gate.approved else "",
        )
        return first_prompt(welcome, leads=seat.agent_id == LEAD)

    def _assignment(self, seat: Seat, task: Task, branch: str) -> str:
        role, remarks = roles.of(Store(self._team.paths.home), task.role), self._remarks(task.id)
        feedback = [remark for remark in remarks if answers.is_feedback(remark)]
        return assignment.first_prompt(
            Assignment(
                team=self._config.name,
                agent_id=seat.agent_id,
                project=self._config.project,
                task=task,
                role_name=role.name,
                role_prompt=role.prompt,
                above=[Told(remark.author, remark.text) for remark in self._remarks(task.parent) if remark.text],
                answers=[Told(remark.author, answers.line(remark)) for remark in feedback],
                before=[Told(answers.heading(remark), remark.text) for remark in remarks if answers.is_work(remark)],
                disposable=seat.disposable,
                branch=branch,
            )
        )

    def _remarks(self, id: str | None) -> list[Remark]:
        """Return what was said about a task, nothing for a missing task."""
        if id is None:
            return []
        try:
            return tasks.remarks(lead_context(self._team), id)
        except NotFound:
            return []
