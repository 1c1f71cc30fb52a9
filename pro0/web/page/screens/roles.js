/** Roles: who an agent is to be; each is a name and what its agents are told. */
import { html } from "../html.js";
import { useLoaded } from "../data/load.js";
import { team } from "../data/team.js";
import { Empty, Field, Form, Heading } from "../parts/common.js";
import { closeDialog, closer, confirmed, openDialog } from "../parts/dialog.js";
import { attempt, complain } from "../parts/notices.js";
import { Text } from "../parts/shown.js";

export function Roles() {
  const own = team.value;
  useLoaded(() => own.loadRoles().catch(complain));
  const roles = own.roles.value;
  return html`<div class="narrow"><${Heading} title="Roles"><button type="button" class="act primary" onClick=${() => edit(null)}>New role</button><//>
    ${!roles.length && html`<${Empty} title="No roles yet">A role says who an agent is to be.<//>`}
    <ul class="cards">${roles.map((role) => html`<li key=${role.id} class="card stack">
      <div class="row between wrap"><h2>${role.name}</h2><span class="row"><button type="button" class="act" aria-label=${`Edit ${role.name}`} onClick=${() => edit(role)}>Edit</button>
        <button type="button" class="act danger" aria-label=${`Delete ${role.name}`} onClick=${() => remove(role)}>Delete</button></span></div>
      <p class="row small soft"><code>${role.id}</code>${role.agent && html`<span>${role.agent}</span>`}${role.model && html`<span>${role.model}</span>`}</p>
      <details><summary>What its agents are told</summary><${Text} text=${role.role_prompt} label=${`Words of ${role.name}`} /></details>
    </li>`)}</ul></div>`;
}

function edit(role) {
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

function remove(role) {
  const own = team.value;
  confirmed(`Delete ${role.name}?`, "Tasks that name it keep the name.", "Delete", () =>
    attempt(() => own.call("agent.role.delete", { role_id: role.id }).then(() => own.loadRoles()), `${role.name} is deleted`));
}
