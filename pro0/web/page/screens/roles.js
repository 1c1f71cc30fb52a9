/** Roles: each has a name, and the text that its agents are told. */
import { html } from "../html.js";
import { may } from "../data/device.js";
import { useLoaded } from "../data/load.js";
import { team } from "../data/team.js";
import { Empty, Heading } from "../parts/common.js";
import { complain } from "../parts/notices.js";
import { editRole, removeRole } from "../parts/roleform.js";
import { Text } from "../parts/shown.js";

export function Roles() {
  const own = team.value;
  useLoaded(() => own.loadRoles().catch(complain));
  const roles = own.roles.value;
  return html`<div class="narrow"><${Heading} title="Roles">${may("all") && html`<button type="button" class="act primary" onClick=${() => editRole(null)}>New role</button>`}<//>
    ${!roles.length && html`<${Empty} title="No roles yet">A role says what an agent is told to be.<//>`}
    <ul class="cards">${roles.map((role) => html`<li key=${role.id} class="card stack">
      <div class="row between wrap"><h2>${role.name}</h2>${may("all") && html`<span class="row"><button type="button" class="act" aria-label=${`Edit ${role.name}`} onClick=${() => editRole(role)}>Edit</button>
        <button type="button" class="act danger" aria-label=${`Delete ${role.name}`} onClick=${() => removeRole(role)}>Delete</button></span>`}</div>
      <p class="row small soft"><code>${role.id}</code>${role.agent && html`<span>${role.agent}</span>`}${role.model && html`<span>${role.model}</span>`}</p>
      <details><summary>What its agents are told</summary><${Text} text=${role.role_prompt} label=${`What agents of ${role.name} are told`} /></details>
    </li>`)}</ul></div>`;
}
