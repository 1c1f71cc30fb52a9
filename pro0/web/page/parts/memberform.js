/** The form of a new member. */
import { html } from "../html.js";
import { useState } from "../vendor/hooks.js";
import { goFrom } from "../data/route.js";
import { useLoaded } from "../data/load.js";
import { team } from "../data/team.js";
import { Choice, Field, Form } from "./common.js";
import { closeDialog, closer, openDialog } from "./dialog.js";
import { complain } from "./notices.js";

export const newMember = () => openDialog("New member", MemberForm);

function MemberForm() {
  const own = team.value;
  const [step, setStep] = useState("");
  useLoaded(() => own.loadRoles().catch(complain));
  const send = async ({ name, agent, role, model, prompt, plan }) => {
    const named = Object.fromEntries(Object.entries({ agent, role, model, prompt }).filter(([, value]) => value));
    const [close, show] = [closer(), goFrom()];
    const member = await own.call("member.spawn", { name, plan: plan === "on", ...named }, setStep);
    close();
    show("member", member.agent_id);
    return member;
  };
  return html`<${Form} label="Start" send=${send} done=${(member) => `${member.agent_id} is started`} cancel=${closeDialog}>
    <${Field} label="Name" name="name" required autofocus />
    <div class="pair">
      <${Field} label="Agent" about="such as claude, codex, shell" name="agent" />
      <${Field} label="Model" name="model" />
    </div>
    <${Choice} label="Role" name="role" options=${[["", "none"], ...own.roles.value.map((role) => [role.id, role.name])]} />
    <${Field} label="First prompt" name="prompt" area />
    <label class="check"><input type="checkbox" name="plan" /> It hands in a plan before it changes anything</label>
    <p class="soft" role="status">${step}</p>
  <//>`;
}
