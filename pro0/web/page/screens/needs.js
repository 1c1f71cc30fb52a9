/** Needs you: the needs, the most urgent first, each with its answers. */
import { html } from "../html.js";
import { useRef, useState } from "../vendor/hooks.js";
import { useLoaded } from "../data/load.js";
import { team } from "../data/team.js";
import { many } from "../data/words.js";
import { Empty, Heading, Loading } from "../parts/common.js";
import { Need, isAsked } from "../parts/need.js";

/** Milliseconds without a need. After them nobody is about to press a button, so a new need may move the cards. */
const CALM = 5000;

export function Needs() {
  const own = team.value;
  const { needs, urgent } = own;
  const all = urgent.value;
  // A permission is shown once its request is loaded, so that nothing moves under the finger of the person.
  const shown = all.filter((need) => !isAsked(need) || own.requests.value[need.request]);
  const missing = all.filter((need) => !shown.includes(need)).map(({ request }) => request);
  const unread = all.filter((need) => isAsked(need) && !own.requests.value[need.request]?.whole).map(({ request }) => request);
  useLoaded(() => Promise.all(unread.map((id) => own.loadRequest(id))), [unread.join()]);
  // Cards are ordered once everything is loaded. After that each one keeps its place when others are new or over.
  const begun = useRef(false);
  const [cards, tidy] = useStill(begun.current ? shown : missing.length ? [] : shown);
  // A verdict is bound to its task as shown, so the needs are shown only after the tasks are loaded.
  if (needs.ready.value && own.tasks.ready.value && !missing.length) begun.current = true;
  if (!begun.current) return html`<${Heading} title="Needs you" /><${Loading} list=${needs} />`;
  const open = new Set(shown);
  const sorted = cards.filter(({ need }) => open.has(need)).every(({ need }, place) => need === shown[place]);
  const button = html`<button type="button" class="act" onClick=${tidy}>${sorted ? "Clear what is over" : "Most urgent first"}</button>`;
  return html`<div class="narrow"><${Heading} title="Needs you">${sorted && cards.length === shown.length ? html`<span class="soft">${many(all.length, "thing")}</span>` : button}<//>
    ${cards.length > 0 && html`<ul class="cards">${cards.map(({ key, need }) => html`<${Need} key=${key} need=${need} over=${!open.has(need)} />`)}</ul>`}
    ${!all.length && html`<${Quiet} />`}</div>`;
}

/**
 * Return the cards in their present order, new ones at the end, and a function that puts the most urgent first. No card
 * moves: one that is over stays until the person tidies up or leaves the screen, or until a new need arrives after more
 * than CALM milliseconds without any.
 */
function useStill(needs) {
  const [stood, setStood] = useState([]);
  const calm = useRef(null);
  const now = new Map(needs.map((need) => [need.id, need]));
  const last = new Map(stood.map((card) => [card.need.id, card]));
  const kept = stood.map((card) => (last.get(card.need.id) === card ? followed(card, now.get(card.need.id)) : card));
  const there = new Map(kept.map((card) => [card.need, card]));
  const fresh = needs.filter((need) => !there.has(need)).map(newCard);
  const anew = fresh.length > 0 && calm.current !== null && performance.now() - calm.current > CALM;
  calm.current = needs.length ? null : calm.current ?? performance.now();
  const cards = [...(anew ? [] : kept), ...fresh];
  if (cards.length !== stood.length || cards.some((card, place) => card !== stood[place])) setStood(cards);
  return [cards, () => setStood(needs.map((need) => there.get(need) ?? newCard(need)))];
}

let count = 0;
const newCard = (need) => ({ key: ++count, need, request: need.request });

/** Update the need of a card. A need may get its request later, but another request belongs on another card. */
function followed(card, need) {
  if (!need || need === card.need || (card.request && need.request && card.request !== need.request)) return card;
  return { ...card, need, request: card.request || need.request };
}

function Quiet() {
  const { members, tasks } = team.value;
  const working = members.all.filter((member) => ["working", "starting"].includes(member.state)).length;
  const left = tasks.all.filter((task) => ["open", "in_progress"].includes(task.status)).length;
  return html`<${Empty} title="Nothing needs you">${many(working, "member")} at work, ${many(left, "task")} left. What needs you appears here.<//>`;
}
