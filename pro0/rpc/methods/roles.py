"""The methods of roles, worded as in the specification."""

from pro0.model.caller import HUMAN_ONLY
from pro0.model.home import Role
from pro0.model.ids import agent_id_from
from pro0.ops.tasks import roles
from pro0.rpc.client import RpcClient
from pro0.rpc.method import method
from pro0.rpc.views import AgentRole, Nothing, RpcView, role_view


class RoleList(RpcView, frozen=True, kw_only=True):
    """All roles."""

    roles: list[AgentRole]


@method("role.list", "agent.role.list")
def role_list(client: RpcClient) -> RoleList:
    """List the roles; they are the same in all teams."""
    return RoleList(roles=[role_view(role) for role in roles.roles(client.context)])


@method("role.list", "agent.role.create", by=HUMAN_ONLY)
def role_create(client: RpcClient, name: str, role_prompt: str) -> AgentRole:
    """Add a role. Its id is made from its name."""
    new = Role(id=agent_id_from(name, "role name"), name=name.strip(), prompt=role_prompt)
    return role_view(roles.add(client.store, client.caller, new))


@method("role.list", "agent.role.update", by=HUMAN_ONLY)
def role_update(client: RpcClient, role_id: str, name: str | None = None, role_prompt: str | None = None) -> AgentRole:
    """Change a role. Running sessions keep the text they began with."""
    texts = {"name": name, "prompt": role_prompt}
    changes: dict[str, object] = {field: text for field, text in texts.items() if text is not None}
    return role_view(roles.edit(client.store, client.caller, role_id, changes))


@method("role.list", "agent.role.delete", by=HUMAN_ONLY)
def role_delete(client: RpcClient, role_id: str) -> Nothing:
    """Remove a role; refused while an open task or a living member has it."""
    roles.remove(client.store, client.caller, role_id)
    return Nothing()
