/** The acts on a task in its present state. */
import { html } from "../html.js";
import { useState } from "../vendor/hooks.js";
import { goFrom, place } from "../data/route.js";
import { team } from "../data/team.js";
import { bound } from "../data/verdicts.js";
import { Act, Choice, Field, Form } from "./common.js";
import { confirmed } from "./dialog.js";
import { attempt } from "./notices.js";
import { editTask, newTask } from "./taskform.js";

const verb = (method, field, extra = {}) => ({ method: `task.${method}`, field, ...extra });
const APPROVE = verb("approve", "said", { label: "Approve", look: "primary", done: "approved" });
const ANSWER = verb("approve", "said", { label: "Answer", look: "primary", done: "answered", asks: "Your answer", required: true });
const REJECT = verb("reject", "feedback", { label: "Send back", done: "sent back", asks: "What is wrong", required: true });
const START = verb("start", "", { label: "Start", look: "primary", done: "started" });
const RETRY = verb("retry", "said", { label: "Retry", look: "primary", done: "retried" });
const CONTINUE = verb("continue", "said", { label: "Continue", done: "continued", asks: "Message to its session" });
const CLOSE = verb("close", "", { label: "Close", done: "closed" });
const CANCEL = verb("cancel", "reason", { label: "Cancel the task", done: "cancelled", asks: "Why", sure: true });
const REOPEN = verb("reopen", "reason", { label: "Open again", done: "opened again", asks: "Why" });
const RELEASE = verb("release", "reason", { label: "Take it back", done: "taken back", asks: "Why" });

const ASSIGN = "Assign to";

function actsOf(task) {
  if (task.status === "needs_review") return [...(task.awaiting === "input" ? [ANSWER] : [APPROVE, REJECT]), CONTINUE, CLOSE, CANCEL];
  if (task.status === "failed") return [RETRY, CONTINUE, CLOSE, REOPEN];
  if (task.status === "in_progress") return [RELEASE, CANCEL];
  if (task.status === "open") return [START, CLOSE, CANCEL];
  return task.status === "closed" ? [REOPEN] : [CANCEL];
}

/** The labels of the acts that are possible on a task now. */
export const taskActs = (task) => [...actsOf(task).map(({ label }) => label), ...(task.status === "open" ? [ASSIGN] : []), "Edit", "New subtask", "Delete"];

export function TaskActs({ task, screen, wish }) {
  const mark = (label) => ({ "data-wanted": label === wish ? "" : undefined });
  const [asked, setAsked] = useState(null);
  const own = team.value;
  const call = (act, text) => own.call(act.method, bound(task, act.method, { task_id: task.id, ...(act.field && text ? { [act.field]: text } : {}) }));
  const done = (act) => `${task.id}: ${act.done}`;
  const button = (act) => act.asks
    ? html`<button key=${act.label} type="button" class=${`act ${act.look ?? ""}`} aria-expanded=${asked === act} ...${mark(act.label)} onClick=${() => setAsked(asked === act ? null : act)}>${act.label}</button>`
    : html`<${Act} key=${act.label} label=${act.label} look=${act.look} run=${() => call(act)} done=${done(act)} ...${mark(act.label)} />`;
  const send = async ({ text }) => (await call(asked, text), setAsked(null));
  const remove = () => confirmed(`Delete ${task.id}?`, `${task.title} and its comments are gone for good.`, "Delete", async () => {
    const show = goFrom();
    if (await attempt(() => own.call("task.delete", bound(task, "task.delete", { task_id: task.id })), `${task.id} is deleted`)) show(screen);
  });
  return html`<div class="row wrap">
      ${actsOf(task).map(button)}
      ${task.session_id && html`<a class="act" href=${place("session", task.session_id)}>Its session</a>`}
    </div>
    ${asked && html`<${Form} key=${asked.label} label=${asked.label} send=${send} done=${done(asked)} cancel=${() => setAsked(null)}>
      <${Field} label=${asked.asks} name="text" area required=${asked.required} autofocus /><//>`}
    ${task.status === "open" && html`<${Assignee} task=${task} mark=${mark(ASSIGN)} />`}
    <div class="row wrap">
      <button type="button" class="act" ...${mark("Edit")} onClick=${() => editTask(task)}>Edit</button>
      <button type="button" class="act" ...${mark("New subtask")} onClick=${() => newTask(task.id)}>New subtask</button>
      <button type="button" class="act danger" ...${mark("Delete")} onClick=${remove}>Delete</button>
    </div>`;
}

function Assignee({ task, mark }) {
  const own = team.value;
  const options = [["", "whoever takes it"], ...own.members.all.map(({ agent_id }) => [agent_id, agent_id])];
  const change = ({ target }) => attempt(() => own.call("task.assign", { task_id: task.id, to: target.value || null }), `${task.id} is for ${target.value || "whoever takes it"}`);
  return html`<${Choice} label=${ASSIGN} ...${mark} options=${options} value=${task.assignee ?? ""} onChange=${change} />`;
}
