/** The tabs on the page of one member. */
import { html } from "../html.js";
import { place } from "../data/route.js";
import { byPriority, team } from "../data/team.js";
import { Chat } from "../parts/chat.js";
import { Empty, State } from "../parts/common.js";
import { Changes } from "../parts/changes.js";
import { MemberCost } from "../parts/usage.js";
import { LiveTerminal } from "../parts/terminal.js";
import { Thread } from "../parts/thread.js";

export const TABS = [
  { name: "chat", title: "Chat", draw: MemberChat },
  { name: "terminal", title: "Terminal", draw: LiveTerminal },
  { name: "tasks", title: "Tasks", draw: Tasks },
  { name: "mail", title: "Mail", draw: Mail },
  { name: "changes", title: "Changes", draw: Changes },
  { name: "cost", title: "Cost", draw: MemberCost },
];

function MemberChat({ member }) {
  return html`<${Chat} key=${member.incarnation} session=${member.agent_id} />`;
}

function Tasks({ member }) {
  const own = (task) => [task.claimed_by, task.assignee].includes(member.agent_id) || task.id === member.task;
  const tasks = team.value.tasks.all.filter(own).sort(byPriority);
  if (!tasks.length) return html`<${Empty} title="No tasks">None is assigned to it or claimed by it.<//>`;
  return html`<ul class="branch root">${tasks.map((task) => html`<li key=${task.id} class="line">
    <a class="title" href=${place("tree", task.id)}>${task.title}</a><span class="details small"><${State} word=${task.status} /><span class="soft">${task.id}</span></span></li>`)}</ul>`;
}

function Mail({ member }) {
  return html`<${Thread} with=${member.agent_id} />`;
}
