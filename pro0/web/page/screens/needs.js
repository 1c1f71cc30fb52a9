/** Needs you: what waits for the person, the most urgent first, each answered where it stands. */
import { html } from "../html.js";
import { useRef, useState } from "../vendor/hooks.js";
import { answersOf } from "../data/answers.js";
import { useLoaded } from "../data/load.js";
import { go, place } from "../data/route.js";
import { team } from "../data/team.js";
import { bound } from "../data/verdicts.js";
import { many, tone } from "../data/words.js";
import { Act, Empty, Field, Form, Heading, Loading, Since } from "../parts/common.js";
import { Shown } from "../parts/shown.js";

export function Needs() {
  const own = team.value;
  const { needs, urgent } = own;
  const all = urgent.value;
  // A permission comes whole, so that nothing moves under the finger of somebody who answers.
  const shown = all.filter((need) => !isAsked(need) || own.requests.value[need.request]);
  const missing = all.filter((need) => !shown.includes(need)).map(({ request }) => request);
  useLoaded(() => missing.forEach((id) => own.loadRequest(id)), [missing.join()]);
  // The order begins once everything is there; after that a card stays where it is, whatever is new.
  const begun = useRef(false);
  const [cards, sort] = useStill(begun.current ? shown : missing.length ? [] : shown);
  if (needs.ready.value && !missing.length) begun.current = true;
  if (!begun.current) return html`<${Heading} title="Needs you" /><${Loading} list=${needs} />`;
  return html`<div class="narrow"><${Heading} title="Needs you">${sort ? html`<button type="button" class="act" onClick=${sort}>Most urgent first</button>` : html`<span class="soft">${many(all.length, "thing")}</span>`}<//>
    ${all.length ? html`<ul class="cards">${cards.map((need) => html`<${Card} key=${need.id} need=${need} />`)}</ul>` : html`<${Quiet} />`}</div>`;
}

/** The needs in the order in which they stood, new ones at the end; and what puts the most urgent first, if others are. */
function useStill(needs) {
  const [order, setOrder] = useState([]);
  const ids = needs.map(({ id }) => id);
  const still = [...order.filter((id) => ids.includes(id)), ...ids.filter((id) => !order.includes(id))];
  const same = (one, other) => one.length === other.length && one.every((id, place) => id === other[place]);
  if (!same(order, still)) setOrder(still);
  const cards = still.map((id) => needs[ids.indexOf(id)]);
  return [cards, same(still, ids) ? null : () => setOrder(ids)];
}

const isAsked = ({ kind, request }) => kind === "permission" && request;

function Quiet() {
  const { members, tasks } = team.value;
  const working = members.all.filter((member) => ["working", "starting"].includes(member.state)).length;
  const left = tasks.all.filter((task) => ["open", "in_progress"].includes(task.status)).length;
  return html`<${Empty} title="Nothing needs you">${many(working, "member")} at work, ${many(left, "task")} left. What needs you shows here by itself.<//>`;
}

function Card({ need }) {
  const task = team.value.tasks.get(need.subject);
  const about = task ? place("tree", task.id) : need.member && place("member", need.member);
  // What a permission is for stands below it, whole.
  const title = task && need.awaiting ? task.title : isAsked(need) ? need.what.split(": ")[0] : need.what;
  return html`<li class=${`card need ${tone(need.kind)}`}>
    <div class="row between"><span class="row"><span class=${`tag ${tone(need.kind)}`}>${need.kind}</span><span class="soft small">${need.subject}</span></span><${Since} at=${need.since} /></div>
    <h2>${about ? html`<a href=${about}>${title}</a>` : title}</h2>
    ${need.why && !isAsked(need) && !title.includes(need.why) && html`<p class="quote">${need.why}</p>`}
    <${Shown} need=${need} task=${task} />
    <${Answers} need=${need} />
  </li>`;
}

function Answers({ need }) {
  const own = team.value;
  const all = answersOf(need, own.requests.value[need.request]);
  const [asked, setAsked] = useState(all[0]?.text === "required" ? all[0] : null);
  if (!all.length) return html`<p class="soft">${need.kind === "limit" ? "It goes on by itself." : html`On the command line: <code>${need.command}</code>`}</p>`;
  const look = (answer) => `${answer.primary ? "primary" : ""} ${answer.danger ? "danger" : ""}`;
  const called = async (answer, text) => {
    const [method, params] = answer.call(need, text);
    const result = await own.call(method, bound(own.tasks.get(need.subject), method, params));
    if (!answer.stays) await own.needs.until(() => !own.needs.get(need.id));
    return result;
  };
  const button = (answer) => {
    const name = `${answer.label}: ${need.what}`;
    if (answer.go) return html`<button type="button" class=${`act ${look(answer)}`} aria-label=${name} onClick=${() => go(...answer.go(need))}>${answer.label}</button>`;
    if (answer.text === "required") return html`<button type="button" class=${`act ${look(answer)}`} aria-label=${name} aria-expanded=${asked === answer} onClick=${() => setAsked(answer)}>${answer.label}</button>`;
    const run = () => called(answer, "");
    return html`<${Act} label=${answer.label} name=${name} look=${look(answer)} run=${run} done=${`${need.subject}: ${answer.done}`} />`;
  };
  const send = ({ text }) => called(asked, text);
  return html`${asked && html`<${Form} key=${asked.label} label=${asked.label} send=${send} done=${`${need.subject}: ${asked.done}`}
      cancel=${asked === all[0] ? null : () => setAsked(null)} others=${all.filter((answer) => answer !== asked).map(button)}>
      <${Field} label=${asked.field} name="text" area=${need.kind !== "cost"} rows="2" required />
    <//>`}
    ${!asked && html`<div class="row wrap answers">${all.map(button)}</div>`}`;
}
