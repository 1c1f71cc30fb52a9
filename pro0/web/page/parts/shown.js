/** What a person has to see before an answer: the whole question, plan or result. */
import { html } from "../html.js";
import { useState } from "../vendor/hooks.js";
import { parametersOf } from "../data/input.js";
import { useLoaded } from "../data/load.js";
import { team } from "../data/team.js";

export function Shown({ need, task }) {
  if (need.kind === "permission" && need.request) return html`<${Permission} id=${need.request} />`;
  if (need.kind === "plan") return html`<${Plan} need=${need} />`;
  if (task && need.awaiting) return html`<${Asked} task=${task} need=${need} />`;
  return null;
}

/** A text of others: as it is, whole, in its own scroll. */
export const Text = ({ text, label }) =>
  text ? html`<div class="text" tabindex="0" role="group" aria-label=${label}>${text}</div>` : null;

function Asked({ task, need }) {
  const question = task.reason === need.why ? "" : task.reason;
  return html`<${Text} text=${question} label="What it asks" /><${Text} text=${task.result} label="Its result" />`;
}

/** A permission: the tool and the whole of its input, to which the answer is bound. */
function Permission({ id }) {
  const { tool, input } = team.value.requests.value[id];
  const parameters = parametersOf(input);
  return html`<p class="small"><span class="tag">${tool}</span></p>
    <div class="text mono whole-input" tabindex="0" role="group" aria-label="The whole input">${parameters?.length
      ? html`<dl>${parameters.map(([name, text]) => html`<dt key=${name}>${name}</dt><dd key=${`${name}.`}>${text}</dd>`)}</dl>`
      : input}</div>`;
}

/** The plan that a need is about: another one, handed in meanwhile, comes with a need of its own. */
export function Plan({ need: { subject, request } }) {
  const [plan, setPlan] = useState("");
  const load = () => team.value.call("plan.show", { name: subject }).then(
    ({ id, text }) => setPlan(id === request ? text : ""),
    (error) => setPlan(error.message),
  );
  useLoaded(load, [subject, request]);
  return html`<${Text} text=${plan} label="The plan" />`;
}
