/** What a person has to see before an answer: the whole question, plan or result. */
import { html } from "../html.js";
import { useState } from "../vendor/hooks.js";
import { parametersOf } from "../data/input.js";
import { useLoaded } from "../data/load.js";
import { team } from "../data/team.js";

export function Shown({ need, task, plan }) {
  if (need.kind === "permission" && need.request) return html`<${Permission} id=${need.request} />`;
  if (need.kind === "plan") return html`<${PlanText} plan=${plan} />`;
  if (task && need.awaiting) return html`<${Asked} task=${task} need=${need} />`;
  return null;
}

/** A text from somebody else: unchanged and whole, in a box that scrolls. */
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

export const PlanText = ({ plan }) => html`<${Text} text=${plan.text} label="The plan" />`;

/**
 * The plan of a need: `text` is the plan, or the error that kept it from loading; `there` is true once it is loaded.
 * A plan that is handed in meanwhile has a need of its own, so one plan is never shown for the other.
 */
export function usePlan(need) {
  const { subject, request } = need ?? {};
  const [known, setKnown] = useState({});
  const learn = (plan) => setKnown((others) => ({ ...others, [request]: plan }));
  const load = () => need && !known[request]?.there && team.value.call("plan.show", { name: subject }).then(
    ({ id, text }) => learn({ there: id === request, text: id === request ? text : "" }),
    (error) => {
      learn({ there: false, text: error.message });
      throw error;
    },
  );
  useLoaded(load, [subject, request]);
  return known[request] ?? { there: false, text: "" };
}
