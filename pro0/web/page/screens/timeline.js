/** Timeline: the events, the latest first, with filters by actor, kind and text. */
import { html } from "../html.js";
import { useState } from "../vendor/hooks.js";
import { place } from "../data/route.js";
import { team } from "../data/team.js";
import { many } from "../data/words.js";
import { Choice, Empty, Heading, Loading } from "../parts/common.js";
import { Text } from "../parts/shown.js";

const SHOWN = 200;
const LONG = 120;

export function Timeline() {
  const { events } = team.value;
  const [by, setBy] = useState("");
  const [kind, setKind] = useState("");
  const [words, setWords] = useState("");
  const [shown, setShown] = useState(SHOWN);
  const heading = html`<${Heading} title="Timeline" />`;
  if (!events.ready.value) return html`${heading}<${Loading} list=${events} />`;
  const all = events.all;
  const options = (values, any) => [["", any], ...[...new Set(values)].sort().map((value) => [value, value])];
  const low = words.trim().toLowerCase();
  const fits = (event) => (!by || event.actor === by) && (!kind || group(event) === kind) && (!low || textOf(event).includes(low));
  const fitting = all.filter(fits).sort(latest);
  return html`${heading}
    <div class="row wrap tools filters">
      <label class="field"><span>Find</span><input type="search" value=${words} onInput=${(event) => setWords(event.target.value)} /></label>
      <${Choice} label="Who" value=${by} options=${options(all.map(({ actor }) => actor), "everyone")} onChange=${(event) => setBy(event.target.value)} />
      <${Choice} label="What" value=${kind} options=${options(all.map(group), "everything")} onChange=${(event) => setKind(event.target.value)} />
      <span class="soft" role="status">${many(fitting.length, "event")}</span>
    </div>
    ${!fitting.length && html`<${Empty} title="No event matches">These are the newest ${all.length} events.<//>`}
    <ol class="timeline">${fitting.slice(0, shown).map((event, at) => html`<${Line} key=${event.id} event=${event} before=${fitting[at - 1]} />`)}</ol>
    ${fitting.length > shown && html`<button type="button" class="act" onClick=${() => setShown(shown + SHOWN)}>Show more</button>`}`;
}

const latest = (one, other) => other.at.localeCompare(one.at);

const group = ({ event }) => event.split(".")[0];

const textOf = (event) => `${event.actor} ${event.event} ${JSON.stringify(event.detail)}`.toLowerCase();

const day = (event) => new Date(event.at).toLocaleDateString([], { weekday: "long", day: "numeric", month: "long" });

const isDeep = (value) => typeof value === "object" && Object.values(value).some((one) => typeof one === "object" || Object.keys(value).length > 3);

const short = (value) => {
  const text = Array.isArray(value) ? value.join(", ") : typeof value === "object" ? Object.entries(value).map((pair) => pair.join(" ")).join(", ") : String(value);
  return text.length > LONG ? `${text.slice(0, LONG)}…` : text;
};

function Line({ event, before }) {
  const detail = event.detail ?? {};
  const task = team.value.tasks.get(detail.task);
  const rest = Object.entries(detail).filter(([name, value]) => name !== "task" && value !== "" && value !== null);
  return html`${(!before || day(before) !== day(event)) && html`<li class="day"><h2>${day(event)}</h2></li>`}
    <li class="event"><time class="soft small" datetime=${event.at}>${new Date(event.at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" })}</time>
      <span class="row wrap"><strong>${event.actor}</strong><span class="tag">${event.event}</span>
        ${detail.task && html`<a href=${place("tree", detail.task)}>${detail.task}${task && ` ${short(task.title)}`}</a>`}
        <span class="soft small">${rest.filter(([, value]) => !isDeep(value)).map(([name, value]) => `${name}: ${short(value)}`).join(" · ")}${event.cut && "too long to be shown"}</span>
        ${rest.filter(([, value]) => isDeep(value)).map(([name, value]) => html`<details key=${name} class="small"><summary class="soft">${name}</summary><${Text} text=${JSON.stringify(value, null, 2)} label=${name} /></details>`)}</span></li>`;
}
