/** Members: all of the team, or one with its acts, chat, terminal, tasks, mail, changes and cost. */
import { html } from "../html.js";
import { place, route } from "../data/route.js";
import { team } from "../data/team.js";
import { many } from "../data/words.js";
import { Empty, Heading, Loading, Since, State } from "../parts/common.js";
import { newMember } from "../parts/memberform.js";
import { Text } from "../parts/shown.js";
import { kept } from "../parts/stretches.js";
import { MemberActs } from "../parts/memberacts.js";
import { TABS } from "./membertabs.js";

export function Members() {
  const { members } = team.value;
  const [name, tab] = route.value.item.split("@");
  if (!members.ready.value) return html`<${Heading} title=${name || "Members"} /><${Loading} list=${members} />`;
  if (!name) return html`<${All} members=${members.all} />`;
  const member = members.get(name);
  return member ? html`<${Member} key=${name} member=${member} tab=${tab} />` : html`<${Heading} title=${name} /><${Empty} title=${`There is no member ${name}`}>It may have been removed.<//>`;
}

function All({ members }) {
  const { tasks } = team.value;
  return html`<${Heading} title="Members"><button type="button" class="act primary" onClick=${newMember}>New member</button><//>
    ${members.length ? html`<ul class="cards wide">${members.map((member) => html`<${Card} key=${member.agent_id} member=${member} task=${tasks.get(member.task)} />`)}</ul>` : html`<${Empty} title="No members yet">Start a member, and give it a task.<//>`}`;
}

const Card = kept(function Card({ member, task }) {
  return html`<li class="card stack">
    <div class="row between"><h2><a class="whole" href=${place("member", member.agent_id)}>${member.agent_id}</a></h2><${State} word=${member.state} /></div>
    <p class="row wrap small soft"><span>${member.agent}${member.host && `@${member.host}`}</span>${member.model && html`<span>${member.model}</span>`}<${Since} at=${member.since} />
      ${member.unread > 0 && html`<span class="tag">${many(member.unread, "unread message")}</span>`}${member.plan && html`<span class="tag cyan">plan ${member.plan}</span>`}</p>
    ${task && html`<p class="small">${task.id} ${task.title}</p>`}
    ${(member.note || member.turn?.words) && html`<p class="quote small lines">${member.note || member.turn.words}</p>`}
  </li>`;
});

function Member({ member, tab = "" }) {
  const name = member.agent_id;
  const shown = TABS.find((one) => one.name === tab) ?? TABS[0];
  const task = team.value.tasks.get(member.task);
  return html`<${Heading} title=${name}><${State} word=${member.state} /><//>
    <div class="stack">
      <p class="row wrap small soft"><span>${member.agent}${member.host && `@${member.host}`}</span>${member.model && html`<span>${member.model}</span>`}${member.permission_mode && html`<span>${member.permission_mode}</span>`}
        ${member.branch && html`<span>branch ${member.branch}</span>`}<${Since} at=${member.since} />${task && html`<a href=${place("tree", task.id)}>${task.id} ${task.title}</a>`}</p>
      ${member.note && html`<p class="quote">${member.note}</p>`}
      <${MemberActs} member=${member} />
      ${member.turn?.words && html`<section><h2 class="label">Last words</h2><${Text} text=${member.turn.words} label="Last words" /></section>`}
      <nav class="pages" aria-label=${`About ${name}`}><ul>${TABS.map((one) => html`<li key=${one.name}>
        <a href=${place("member", `${name}@${one.name}`)} aria-current=${one === shown ? "page" : undefined}>${one.title}</a></li>`)}</ul></nav>
      <section aria-label=${shown.title}><${shown.draw} key=${shown.name} member=${member} /></section>
    </div>`;
}
