"""Roles: read by everyone, changed by a human; they belong to a home, not to a team (behaviour 2.25)."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from pro0.errors import BadInput, ErrorCode, NotFound, Refused
from pro0.model import ids
from pro0.model.caller import ANYONE, Caller, Who
from pro0.model.home import Role, Roles
from pro0.model.runtime import ENDED
from pro0.model.task import SETTLED
from pro0.ops.context import Context, operation
from pro0.ops.seats import roster
from pro0.ops.tasks.drafts import SeatDraft
from pro0.rules import text
from pro0.rules.words.presets import PRESETS
from pro0.store.files import make_folder
from pro0.store.teams import Store

PROMPT_LIMIT = 64 * 1024


@operation("role.list", ANYONE, changes=False)
def roles(context: Context) -> tuple[Role, ...]:
    """Return all roles, in the order in which they were made."""
    return all_roles(Store(context.team.paths.home))


def all_roles(store: Store) -> tuple[Role, ...]:
    """Return all roles of a home."""
    return (store.roles.find() or PRESETS).roles


def find_role(store: Store, name: str) -> Role:
    """Return the role of that id or name, in any case; raises NotFound."""
    all_of_them = all_roles(store)
    if role := _role_called(all_of_them, name):
        return role
    listed = ", ".join(role.id for role in all_of_them) or "none yet"
    raise NotFound(f"there is no role {name!r}", hint=f"roles: {listed}; add one: pro0 role add NAME --prompt TEXT")


def of(store: Store, id: str | None) -> Role:
    """Return a task's role; an empty role when the task has none, or a removed one."""
    return next((role for role in all_roles(store) if role.id == id), Role(id="none", name=""))


def agent_of(store: Store, name: str) -> tuple[str, tuple[str, ...]]:
    """Return the agent of a role, and the program of the agent `command`; shell when the role names none."""
    role = _role_called(all_roles(store), name)
    return (role.agent, role.argv) if role and role.agent else ("shell", ())


def apply_role(store: Store, draft: SeatDraft) -> SeatDraft:
    """Return a draft with its role's prompt and model added; an unknown role is only a category."""
    role = _role_called(all_roles(store), draft.role)
    if role is None:
        return draft
    prompt = "\n\n".join(filter(None, (role.prompt, draft.prompt)))
    return replace(draft, role=role.id, prompt=prompt, model=draft.model or role.model)


def add(store: Store, caller: Caller, role: Role) -> Role:
    """Add a role; raises Refused for a taken id or name."""
    _human(caller, "add roles")
    role = _checked(role)
    make_folder(store.home)
    with store.roles.change(f"add the role {role.id}") as change:
        _require_unlike(role, change.value.roles)
        change.value = replace(change.value, roles=(*change.value.roles, role))
    return role


def edit(store: Store, caller: Caller, name: str, changes: dict[str, object]) -> Role:
    """Change fields of a role; running sessions keep their text."""
    _human(caller, "change roles")
    make_folder(store.home)
    with store.roles.change(f"change the role {name}") as change:
        before = find_role(store, name)
        after = _checked(replace(before, **changes))
        if after.name != before.name:
            _require_unlike(after, [role for role in change.value.roles if role.id != before.id])
        change.value = Roles(
            revision=change.value.revision,
            roles=tuple(after if role.id == before.id else role for role in change.value.roles),
        )
    return after


def remove(store: Store, caller: Caller, name: str) -> Role:
    """Remove a role; raises Refused while an open task or a living member has it."""
    _human(caller, "remove roles")
    make_folder(store.home)
    with store.roles.change(f"remove the role {name}") as change:
        gone = find_role(store, name)
        if users := _users(store, gone.id):
            hint = "give them another one: pro0 task update ID --role ROLE"
            raise Refused(f"{gone.id} is the role of {', '.join(users)}", code=ErrorCode.IN_USE, hint=hint)
        remaining = tuple(role for role in change.value.roles if role.id != gone.id)
        change.value = replace(change.value, roles=remaining)
    return gone


def _role_called(among: Sequence[Role], name: str) -> Role | None:
    """Return the role of an id, else of a name, in any case."""
    folded = name.strip().casefold()
    by_name = (role for role in among if role.name.casefold() == folded)
    return next((role for role in among if role.id == folded), next(by_name, None))


def _require_unlike(role: Role, existing_roles: Iterable[Role]) -> None:
    """Raise Refused for a role with the id or name of another."""
    names = {role.id, role.name.casefold()}
    for existing in existing_roles:
        if names & {existing.id, existing.name.casefold()}:
            hint = f"change it: pro0 role edit {existing.id}"
            raise Refused(f"there is a role {existing.id} already", code=ErrorCode.CONFLICT, hint=hint)


def _users(store: Store, id: str) -> list[str]:
    users = []
    for name in store.names():
        team = store.team(name)
        users += [f"{t.id} ({name})" for t in team.tasks.read().tasks if t.role == id and t.status not in SETTLED]
        known_members = roster(team)
        for seat in known_members.wanted.seats:
            state = known_members.state(seat.agent_id)
            if seat.role == id and not (state and state.state in ENDED):
                users.append(f"{seat.agent_id} ({name})")
    return users


def _checked(role: Role) -> Role:
    ids.agent_id(role.id)
    if role.agent and not ids.NAME.fullmatch(role.agent):  # the program itself is checked at the start
        raise BadInput(f"{role.agent!r} cannot be the name of an agent", hint="pro0 agent list")
    if bool(role.argv) != (role.agent == "command"):
        hint = "pro0 role add NAME --agent command -- PROGRAM [ARG ...]"
        raise BadInput("a role has a program when its agent is command, and only then", hint=hint)
    if not role.name.strip():
        raise BadInput("a role needs a name", hint="pro0 role add NAME --prompt TEXT")
    name, prompt = text.one_line(role.name.strip(), "name"), text.checked(role.prompt, "prompt", PROMPT_LIMIT)
    return replace(role, name=name, prompt=prompt, model=text.one_line(role.model, "model"))


def _human(caller: Caller, act: str) -> None:
    if caller.who is not Who.HUMAN:
        raise Refused(f"{caller.agent_id} may not {act}: only a person may", code=ErrorCode.NOT_ALLOWED)
