/** The card of one need: what, why, the whole input of a permission, and the answers or the outcome. */
import { html } from "../html.js";
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor/hooks.js";
import { answersOf } from "../data/answers.js";
import { settled } from "../data/over.js";
import { go, place } from "../data/route.js";
import { team } from "../data/team.js";
import { bound, isUnseen } from "../data/verdicts.js";
import { tone } from "../data/words.js";
import { Act, Field, Form, Since } from "./common.js";
import { Shown, usePlan } from "./shown.js";

export const isAsked = ({ kind, request }) => kind === "permission" && request;

/** Takes the place of the answers while their subject is not shown yet. */
const Moment = () => html`<p class="row answers soft" role="status">One moment …</p>`;

/** The card. Once its need is `over`, it keeps its height. */
export function Need({ need, over }) {
  const card = useRef(null);
  const [answer, setAnswer] = useState("");
  const task = useStanding(team.value.tasks.get(need.subject), over);
  // After its request was answered, the need may stay for a moment, until the agent goes on.
  const asked = useRef(need.request);
  const [height, held] = useHeld(card, over || need.request !== asked.current);
  const plan = usePlan(need.kind === "plan" ? need : null);
  const about = task ? place("tree", task.id) : need.member && place("member", need.member);
  const title = titleOf(need, task);
  const colour = over ? "dim" : tone(need.kind);
  return html`<li ref=${card} class=${`card need ${colour} ${over ? "over" : ""}`} style=${{ minHeight: height }}>
    <div class="row between"><span class="row"><span class=${`tag ${colour}`}>${need.kind}</span><span class="soft small">${need.subject}</span></span><${Since} at=${need.since} /></div>
    <h2>${about ? html`<a href=${about}>${title}</a>` : title}</h2>
    ${need.why && !isAsked(need) && !title.includes(need.why) && html`<p class="quote">${need.why}</p>`}
    <${Shown} need=${need} task=${task} plan=${plan} />
    ${over ? html`<${Over} need=${need} answer=${answer} held=${held} />` : need.kind === "plan" && !plan.there ? html`<${Moment} />` : html`<${Answers} need=${need} answered=${setAnswer} />`}
  </li>`;
}

/**
 * The heading of a card. The title of a waiting task is also in its need, which may arrive before the task. The heading
 * of a permission omits its input, because the card shows all of it below.
 */
function titleOf({ kind, request, awaiting, what }, task) {
  if (awaiting) return task?.title ?? what.slice(what.indexOf("): ") + 3);
  return isAsked({ kind, request }) ? what.split(": ")[0] : what;
}

/** Return the last value from before the card was over; a missing value does not replace it. */
function useStanding(value, over) {
  const last = useRef(value);
  if (!over && value) last.current = value;
  return last.current;
}

/** Return the last height of a card from before it was answered, "" until then, and whether the focus was in it. */
function useHeld(card, answered) {
  const height = useRef(0);
  const held = useRef(false);
  const before = useRef(false);
  // An observer tells a change with the next picture, and the answer may come first. The card is still drawn as it was.
  if (answered && !before.current) height.current = Math.max(height.current, card.current?.getBoundingClientRect().height ?? 0);
  before.current = answered;
  if (!answered) held.current = false;
  else held.current ||= card.current?.contains(document.activeElement) ?? false;
  useLayoutEffect(() => {
    if (answered) return undefined;
    const watch = new ResizeObserver(() => (height.current = card.current.getBoundingClientRect().height));
    watch.observe(card.current);
    return () => watch.disconnect();
  }, [answered]);
  return [answered ? `${height.current}px` : "", held.current];
}

/** The outcome: the answer from this page, or who settled the need elsewhere. It takes the focus if the card had it. */
function Over({ need, answer, held }) {
  const line = useRef(null);
  const [event, setEvent] = useState(null);
  useLayoutEffect(() => void (held && line.current.focus({ preventScroll: true })), []);
  useEffect(() => void (answer || settled(need).then(setEvent)), []);
  return html`<p class="row wrap soft" tabindex="-1" ref=${line}>Over${answer ? `: ${answer}` : event && html`: <strong>${event.actor}</strong><span class="tag">${event.event}</span><${Since} at=${event.at} />`}</p>`;
}

function Answers({ need, answered }) {
  const own = team.value;
  const all = answersOf(need, own.requests.value[need.request]);
  const [asked, setAsked] = useState(all[0]?.text === "required" ? all[0] : null);
  const task = useRef(null);
  task.current = own.tasks.get(need.subject) ?? task.current;
  // A need may arrive before its task. When a task is deleted, its need goes a moment later.
  if (all.some(({ call }) => call && isUnseen(task.current, call(need, "")[0]))) return html`<${Moment} />`;
  if (!all.length) return html`<p class="soft">${need.kind === "limit" ? "New sessions start automatically after that." : html`On the command line: <code>${need.command}</code>`}</p>`;
  const look = (answer) => `${answer.primary ? "primary" : ""} ${answer.danger ? "danger" : ""}`;
  const called = async (answer, text) => {
    const [method, params] = answer.call(need, text);
    const result = await own.call(method, bound(own.tasks.get(need.subject), method, params));
    answered(answer.done);
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
      <${Field} label=${asked.field} name="text" ...${asked.number ? { type: "number", min: 0, step: 0.01 } : { area: true, rows: 2 }} required />
    <//>`}
    ${!asked && html`<div class="row wrap answers">${all.map(button)}</div>`}`;
}
