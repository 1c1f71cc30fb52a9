/** The chat of one session of a task, alive or over. */
import { html } from "../html.js";
import { place, route } from "../data/route.js";
import { team } from "../data/team.js";
import { Chat } from "../parts/chat.js";
import { Heading, State } from "../parts/common.js";

export function Session() {
  const id = route.value.item;
  const { members, tasks } = team.value;
  const member = members.all.find((one) => one.incarnation === id || one.agent_id === id);
  const task = tasks.all.find((one) => one.session_id === id) ?? tasks.get(member?.task);
  return html`<${Heading} title="Session">${member && html`<${State} word=${member.state} />`}<//>
    <p class="row wrap small soft about">${task && html`<a href=${place("tree", task.id)}>${task.id} ${task.title}</a>`}${member && html`<a href=${place("member", `${member.agent_id}@terminal`)}>${member.agent_id}</a>`}</p>
    <${Chat} key=${id} session=${id} over=${!member} />`;
}
