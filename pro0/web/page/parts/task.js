/** One task beside the list in which it was chosen: its details, its acts and its comments. */
import { html } from "../html.js";
import { useLayoutEffect, useRef } from "../vendor/hooks.js";
import { go, place } from "../data/route.js";
import { team } from "../data/team.js";
import { focusWanted, wanted } from "../data/wish.js";
import { words } from "../data/words.js";
import { Since, State } from "./common.js";
import { Comments } from "./comments.js";
import { Text } from "./shown.js";
import { TaskActs } from "./taskacts.js";

/** A list with the chosen task beside it. On a phone the task covers the list. */
export function WithTask({ screen, id, children }) {
  const task = id && team.value.tasks.get(id);
  return html`<div class=${task ? "split" : ""}>
    <div class="list">${children}</div>
    ${task && html`<${TaskPanel} key=${id} task=${task} screen=${screen} />`}
    ${id && !task && html`<p class="empty soft">There is no ${id}.</p>`}
  </div>`;
}

function TaskPanel({ task, screen }) {
  const heading = useRef(null);
  const close = () => go(screen);
  const wish = wanted(task.id);
  useLayoutEffect(() => {
    heading.current.focus();
    const key = (event) => event.key === "Escape" && !document.querySelector("dialog[open]") && close();
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, []);
  useLayoutEffect(() => void (wish && focusWanted()), [wish]);
  return html`<aside class="panel stack" aria-label=${`${task.id}: ${task.title}`}>
    <header class="heading">
      <h2 tabindex="-1" ref=${heading}>${task.title}</h2>
      <button type="button" class="icon" aria-label="Close the task" onClick=${close}>×</button>
    </header>
    <p class="row wrap"><${State} word=${task.status} /><span class="soft">${task.id}</span>${task.awaiting && html`<span class="tag asks">waits for: ${task.awaiting}</span>`}</p>
    <${TaskActs} task=${task} screen=${screen} wish=${wish} />
    ${task.description !== task.title && html`<${Text} text=${task.description} label="Description" />`}
    ${task.reason && html`<section><h3>${task.status === "failed" ? "Why it failed" : "What it asks"}</h3><${Text} text=${task.reason} label="Reason" /></section>`}
    ${task.result && html`<section><h3>Result</h3><${Text} text=${task.result} label="Result" /></section>`}
    ${task.acceptance && html`<section><h3>Done when</h3><${Text} text=${task.acceptance} label="Done when" /></section>`}
    <${Facts} task=${task} screen=${screen} />
    <${Comments} task=${task} />
  </aside>`;
}

function Facts({ task, screen }) {
  const link = (id) => html`<a key=${id} class="tag" href=${place(screen, id)}>${id}</a>`;
  const below = team.value.children.value.get(task.id) ?? [];
  const rows = [
    ["Priority", String(task.priority)],
    ["Type", task.type === "epic" && "epic"],
    ["Role", task.role_id],
    ["Assignee", task.assignee && html`<a href=${place("member", task.assignee)}>${task.assignee}</a>`],
    ["Works on it", task.claimed_by && html`<a href=${place("member", task.claimed_by)}>${task.claimed_by}</a>`],
    ["Parent", task.parent_id && link(task.parent_id)],
    ["After", task.dependencies?.length && task.dependencies.map(link)],
    ["Subtasks", below.length && below.map((child) => link(child.id))],
    ["Gate", task.requires],
    ["Labels", task.labels?.join(", ")],
    ["Branch", task.branch],
    ["Policy", task.policy],
    ["Agent", task.agent],
    ["Command", task.run && html`<code>${task.run}</code>`],
    ["Time limit", task.timeout && `${task.timeout} s`],
    ["Closed as", task.closed_reason && words(task.closed_reason)],
    ["Created by", task.created_by],
    ["Changed", task.updated_at && html`<${Since} at=${task.updated_at} />`],
  ];
  return html`<dl class="facts">${rows.filter(([, value]) => value).map(([name, value]) => html`<dt key=${name}>${name}</dt><dd key=${`${name}.`}>${value}</dd>`)}</dl>`;
}
