/** The form of a role, and the removal of a role. */
import { html } from "../html.js";
import { team } from "../data/team.js";
import { Field, Form } from "./common.js";
import { closeDialog, closer, confirmed, openDialog } from "./dialog.js";
import { attempt } from "./notices.js";

export function editRole(role) {
  const own = team.value;
  const send = async ({ name, role_prompt }) => {
    const close = closer();
    await own.call(...(role ? ["agent.role.update", { role_id: role.id, name, role_prompt }] : ["agent.role.create", { name, role_prompt }]));
    await own.loadRoles();
    close();
  };
  openDialog(role ? `Edit ${role.name}` : "New role", () => html`<${Form} label=${role ? "Save" : "Create"} send=${send} done="saved" cancel=${closeDialog}>
    <${Field} label="Name" name="name" required autofocus value=${role?.name} />
    <${Field} label="What its agents are told" name="role_prompt" area rows="10" required value=${role?.role_prompt} /><//>`);
}

export function removeRole(role) {
  const own = team.value;
  confirmed(`Delete ${role.name}?`, "Tasks with this role keep its name.", "Delete", () =>
    attempt(() => own.call("agent.role.delete", { role_id: role.id }).then(() => own.loadRoles()), `${role.name} is deleted`));
}
