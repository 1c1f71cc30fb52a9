/** Board: the tasks in columns by their state; a task dragged onto a member is assigned to it. */
import { html } from "../html.js";
import { useState } from "../vendor/hooks.js";
import { go, place, route } from "../data/route.js";
import { byPriority, found, team } from "../data/team.js";
import { COLUMNS, many, tone } from "../data/words.js";
import { Empty, Heading, Loading, State } from "../parts/common.js";
import { newTask } from "../parts/taskform.js";
import { attempt } from "../parts/notices.js";
import { Stretches, WHOLE, kept } from "../parts/stretches.js";
import { WithTask } from "../parts/task.js";

const CARD = 5;

export function Board() {
  const { tasks } = team.value;
  const [words, setWords] = useState("");
  const all = tasks.all.filter((task) => found(task, words.trim().toLowerCase()));
  const heading = html`<${Heading} title="Board"><button type="button" class="act primary" onClick=${() => newTask()}>New task</button><//>`;
  if (!tasks.ready.value) return html`${heading}<${Loading} list=${tasks} />`;
  return html`<${WithTask} screen="board" id=${route.value.item}>
    ${heading}
    ${tasks.items.value.size ? html`
      <div class="row wrap tools"><input type="search" placeholder="Find a task" aria-label="Find a task" value=${words} onInput=${(event) => setWords(event.target.value)} />
        <span class="soft" role="status">${many(all.length, "task")}</span></div>
      <${Members} /><${Columns} all=${all} />` : html`<${Empty} title="No tasks yet">Make one, or let the lead agent make them.<//>`}
  <//>`;
}

function Members() {
  const members = team.value.members.all;
  return members.length > 0 && html`<ul class="droppable" aria-label="Members: drop a task on a member to assign it">
    ${members.map((member) => html`<${Member} key=${member.agent_id} member=${member} />`)}
  </ul>`;
}

const Member = kept(function Member({ member }) {
  const [over, setOver] = useState(false);
  const own = team.value;
  const name = member.agent_id;
  const drop = (event) => {
    event.preventDefault();
    setOver(false);
    const id = event.dataTransfer.getData("text/plain");
    if (own.tasks.get(id)) attempt(() => own.call("task.assign", { task_id: id, to: name }), `${id} is for ${name}`);
  };
  const hover = (event) => (event.preventDefault(), setOver(true));
  return html`<li class=${over ? "over" : ""} onDragOver=${hover} onDragLeave=${() => setOver(false)} onDrop=${drop}>
    <a href=${place("member", name)}>${name}</a> <${State} word=${member.state} />
  </li>`;
});

function Columns({ all }) {
  const [marked, setMarked] = useState("");
  const related = new Set(marked ? relatives(marked, all) : []);
  const chosen = route.value.item;
  const card = (task) => html`<${Card} key=${task.id} task=${task} marked=${setMarked} related=${related.has(task.id)} chosen=${task.id === chosen} left=${left(task).join(" ")} />`;
  const columns = COLUMNS.map(([title, statuses]) => [title, all.filter((task) => statuses.includes(task.status)).sort(statuses[0] === "done" ? latest : byPriority)]);
  return html`<${Jumps} columns=${columns} /><div class="columns">
    ${columns.map(([title, tasks]) => html`<${Column} key=${title} title=${title} card=${card} long=${all.length > WHOLE} tasks=${tasks} />`)}
  </div>`;
}

/** On a phone only one column is visible. These buttons scroll to the others, and show the number of tasks in each. */
function Jumps({ columns }) {
  const jump = (title) => document.getElementById(idOf(title)).scrollIntoView({ inline: "start", block: "nearest" });
  return html`<ul class="jumps" aria-label="Columns">${columns.map(([title, tasks]) => html`<li key=${title}>
    <button type="button" class="act" onClick=${() => jump(title)}>${title} <span class=${`count ${tasks.length ? "some" : ""}`}>${tasks.length}</span></button></li>`)}</ul>`;
}

const idOf = (title) => `column-${title.replace(" ", "-")}`;

const latest = (one, other) => (other.updated_at ?? "").localeCompare(one.updated_at ?? "");

function relatives(id, all) {
  const own = team.value.tasks.get(id);
  return [...(own?.dependencies ?? []), ...all.filter((task) => task.dependencies?.includes(id)).map((task) => task.id)];
}

/** The ids of a task's dependencies that are not closed; a deleted dependency counts as closed. */
function left({ dependencies = [] }) {
  const { tasks } = team.value;
  return dependencies.filter((id) => (tasks.get(id)?.status ?? "closed") !== "closed");
}

function Column({ title, tasks, card, long }) {
  return html`<section class="column" id=${idOf(title)} aria-label=${title}>
    <h2>${title} <span class="count">${tasks.length}</span></h2>
    <${Stretches} items=${tasks} draw=${card} long=${long} height=${CARD} />
  </section>`;
}

const Card = kept(function Card({ task, marked, related, chosen, left }) {
  const drag = (event) => event.dataTransfer.setData("text/plain", task.id);
  const who = task.claimed_by ?? task.assignee;
  const mark = () => marked(task.id);
  const unmark = () => marked("");
  return html`<li class=${`card task ${tone(task.status)} ${related ? "related" : ""} ${chosen ? "chosen" : ""}`} draggable=${task.status === "open"} onDragStart=${drag}
    onMouseEnter=${mark} onMouseLeave=${unmark} onFocusIn=${mark} onFocusOut=${unmark}>
    <a class="title" href=${place("board", task.id)}>${task.title}</a>
    <p class="row wrap soft small">
      <span>${task.id}</span><span title="Priority">P${task.priority}</span>
      ${task.role_id && html`<span class="tag">${task.role_id}</span>`}
      ${who && html`<span>${task.claimed_by ? "" : "for "}${who}</span>`}
    </p>
    <${After} task=${task} left=${left.split(" ")} />
  </li>`;
});

function After({ task, left }) {
  if (!task.dependencies?.length || task.status !== "open") return null;
  const ended = (id) => !left.includes(id);
  return html`<p class="small row wrap"><span class="soft">after</span>${task.dependencies.map(
    (id) => html`<a key=${id} class=${ended(id) ? "tag dim done" : "tag asks"} href=${place("board", id)}>${id}<span class="sr">${ended(id) ? " (closed)" : " (not closed)"}</span></a>`,
  )}</p>`;
}
