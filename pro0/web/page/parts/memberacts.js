/** The acts on a member. */
import { html } from "../html.js";
import { useLayoutEffect, useState } from "../vendor/hooks.js";
import { team } from "../data/team.js";
import { ENDED } from "../data/words.js";
import { focusWanted, wanted } from "../data/wish.js";
import { Act, Field, Form } from "./common.js";
import { confirmed } from "./dialog.js";
import { attempt, say } from "./notices.js";
import { PlanText, usePlan } from "./shown.js";

const VERDICTS = ["Approve the plan", "Ask for another plan"];

/** The labels of the acts that are possible on a member now. */
export const memberActs = ({ plan, state }) => [
  ...(plan === "handed in" && !ENDED.includes(state) ? VERDICTS : []),
  ...(ENDED.includes(state) ? ["Start again"] : ["Message", "Ask it to end", "End by force"]),
];

export function MemberActs({ member }) {
  const over = ENDED.includes(member.state);
  const wish = wanted(member.agent_id);
  const mark = (label) => ({ "data-wanted": label === wish ? "" : undefined });
  const own = team.value;
  const name = member.agent_id;
  const [asked, setAsked] = useState(false);
  const send = async ({ content }) => (await own.call("message.send", { to: name, content }), setAsked(false));
  // A verdict is offered once the plan it is about is shown. A plan without a need can no longer be judged.
  const plan = own.needs.all.find(({ kind, subject }) => kind === "plan" && subject === name);
  const shown = usePlan(plan);
  const waits = VERDICTS.includes(wish) && plan && !shown.there;
  useLayoutEffect(() => void (wish && !waits && focusWanted()), [wish, waits]);
  const reject = async ({ feedback }) => (await own.call("plan.reject", { name, feedback, about: plan.request }), setAsked(false));
  const ended = (force) => attempt(() => own.call("member.shutdown", { name, force }), force ? `${name} is being ended` : `${name} is asked to end`);
  const force = () => confirmed(`End ${name} by force?`, "What it has not saved is lost.", "End it", () => ended(true));
  const toggle = (what) => setAsked(asked === what ? false : what);
  return html`${plan && html`<${PlanText} plan=${shown} />`}<div class="row wrap">
      ${shown.there && html`<${Act} key=${plan.request} label="Approve the plan" look="primary" run=${() => own.call("plan.approve", { name, about: plan.request })} done=${`the plan of ${name} is approved`} ...${mark("Approve the plan")} />
        <button type="button" class="act" aria-expanded=${asked === plan.request} ...${mark("Ask for another plan")} onClick=${() => toggle(plan.request)}>Ask for another plan</button>`}
      ${!over && html`<button type="button" class="act" aria-expanded=${asked === "send"} ...${mark("Message")} onClick=${() => toggle("send")}>Message</button>
        <${Act} label="Ask it to end" run=${() => own.call("member.shutdown", { name })} done=${`${name} is asked to end`} ...${mark("Ask it to end")} />
        <button type="button" class="act danger" ...${mark("End by force")} onClick=${force}>End by force</button>`}
      ${over && html`<${Act} label="Start again" look="primary" run=${() => own.call("member.restart", { name }, say)} done=${`${name} is started again`} ...${mark("Start again")} />`}
    </div>
    ${asked === "send" && html`<${Form} key="send" label="Send" send=${send} done=${`sent to ${name}`} cancel=${() => setAsked(false)}><${Field} label="Your message" name="content" area required autofocus /><//>`}
    ${shown.there && asked === plan.request && html`<${Form} key="plan" label="Ask for another" send=${reject} done=${`${name} is asked for another plan`} cancel=${() => setAsked(false)}><${Field} label="What is wrong with it" name="feedback" area required autofocus /><//>`}`;
}
