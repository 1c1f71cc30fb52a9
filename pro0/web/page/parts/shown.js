/** What a person has to see before an answer: the whole question, plan or result. */
import { html } from "../html.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { team } from "../data/team.js";

export function Shown({ need, task }) {
  if (need.kind === "plan") return html`<${Plan} of=${need.subject} since=${need.since} />`;
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

function Plan({ of, since }) {
  const [plan, setPlan] = useState("");
  const own = team.value;
  useEffect(() => {
    const isPlan = ({ message }) => message.type === "plan_approval_request" && message.from === of;
    own.call("message.history").then(
      (letters) => setPlan(letters.filter(isPlan).at(-1)?.message.content ?? ""),
      (error) => setPlan(error.message),
    );
  }, [own, of, since]);
  return html`<${Text} text=${plan} label="The plan" />`;
}
