/** Tree: every task below its parent, siblings in the order of their priority. */
import { html } from "../html.js";
import { useState } from "../vendor/hooks.js";
import { place, route } from "../data/route.js";
import { found, team } from "../data/team.js";
import { many } from "../data/words.js";
import { Empty, Heading, Loading, State } from "../parts/common.js";
import { Stretches, WHOLE, kept } from "../parts/stretches.js";
import { newTask } from "../parts/taskform.js";
import { WithTask } from "../parts/task.js";

const OVER = ["closed"];
const LINE = 2.75;

export function Tree() {
  const { tasks, children } = team.value;
  const [hidden, setHidden] = useState(false);
  const [words, setWords] = useState("");
  const heading = html`<${Heading} title="Tasks"><button type="button" class="act primary" onClick=${() => newTask()}>New task</button><//>`;
  if (!tasks.ready.value) return html`${heading}<${Loading} list=${tasks} />`;
  const shown = visible(children.value, tasks.all, words.trim().toLowerCase(), hidden);
  return html`<${WithTask} screen="tree" id=${route.value.item}>
    ${heading}
    <div class="row wrap tools">
      <input type="search" placeholder="Find a task" aria-label="Find a task" value=${words} onInput=${(event) => setWords(event.target.value)} />
      <label class="check"><input type="checkbox" checked=${hidden} onChange=${(event) => setHidden(event.target.checked)} /> Hide closed ones</label>
      <span class="soft" role="status">${many(shown.size, "task")}</span>
    </div>
    ${shown.size ? html`<${Branch} of="" shown=${shown} />` : html`<${Empty} title=${words || hidden ? "No task matches" : "No tasks yet"}>${!words && "Make one, or let the lead agent make them."}<//>`}
  <//>`;
}

/** The ids of the tasks to show: those that match the search, and all above them. */
function visible(children, all, words, hidden) {
  const shown = new Set();
  const { tasks } = team.value;
  for (const task of all) {
    if (hidden && OVER.includes(task.status)) continue;
    if (!found(task, words)) continue;
    for (let own = task; own && !shown.has(own.id); own = tasks.get(own.parent_id)) shown.add(own.id);
  }
  return shown;
}

function Branch({ of, shown }) {
  const chosen = route.value.item;
  const tasks = (team.value.children.value.get(of) ?? []).filter((task) => shown.has(task.id));
  const row = (task) => html`<${Row} key=${task.id} task=${task} shown=${shown} chosen=${task.id === chosen} />`;
  return tasks.length > 0 && html`<${Stretches} items=${tasks} draw=${row} long=${shown.size > WHOLE} height=${LINE} look=${of ? "branch" : "branch root"} />`;
}

function Row({ task, shown, chosen }) {
  const [open, setOpen] = useState(true);
  const below = team.value.children.value.has(task.id);
  return html`<li>
    <${Line} task=${task} chosen=${chosen} fold=${below && (open ? "open" : "folded")} setOpen=${setOpen} />
    ${open && below && html`<${Branch} of=${task.id} shown=${shown} />`}
  </li>`;
}

const Line = kept(function Line({ task, chosen, fold, setOpen }) {
  const who = task.claimed_by ?? task.assignee;
  const open = fold === "open";
  return html`<div class=${`line ${chosen ? "chosen" : ""}`}>
    ${fold ? html`<button type="button" class="icon fold" aria-expanded=${open} aria-label=${`Subtasks of ${task.id}`} onClick=${() => setOpen(!open)}>${open ? "▾" : "▸"}</button>` : html`<span class="fold"></span>`}
    <a class="title" href=${place("tree", task.id)}>${task.title}</a>
    <span class="details small">
      ${task.role_id && html`<span class="tag">${task.role_id}</span>`}
      ${who && html`<span class="soft who">${who}</span>`}
      <${State} word=${task.status} />
      <span class="soft id">${task.id}</span>
      <span class="soft priority" title="Priority">P${task.priority}</span>
    </span>
  </div>`;
});
