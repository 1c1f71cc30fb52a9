/** The list of the home's teams, to choose one. */
import { html } from "../html.js";
import { useEffect } from "../vendor/hooks.js";
import { home, teams } from "../data/home.js";
import { place } from "../data/route.js";
import { many, words } from "../data/words.js";
import { startTeam } from "../parts/teamform.js";
import { Cut, Empty, Heading, State } from "../parts/common.js";

export function Teams() {
  useEffect(() => void (document.title = "Teams · pro0"), []);
  const all = teams.value;
  return html`<main id="main" class="alone"><${Cut} connection=${home} /><${Heading} title="Teams">${all?.length > 0 && html`<button type="button" class="act primary" onClick=${startTeam}>Start a team</button>`}<//>
    ${all === null && html`<p class="soft" role="status">One moment …</p>`}
    ${all?.length === 0 && html`<${Empty} title="No team yet" act=${html`<button type="button" class="act primary" onClick=${startTeam}>Start a team</button>`}>A team is one or more coding agents at work on a project of yours. Start one here, or in a terminal: <code>pro0 team start</code><//>`}
    <ul class="cards">${all?.map((team) => html`<${Team} key=${team.name} team=${team} />`)}</ul>
  </main>`;
}

/** Shown in place of a team that does not exist, or no longer does. */
export function Missing({ name }) {
  return html`<${Heading} title=${name} /><${Empty} title=${`There is no team ${name}`} act=${html`<a class="act primary" href="#/">All teams</a>`}>It was removed, or never existed.<//>`;
}

function Team({ team: { name, project, lead, living, needs, error } }) {
  return html`<li class="card stack">
    <div class="row between"><h2><a class="whole" href=${place("needs", "", name)}>${name}</a></h2><${State} word=${lead ?? "gone"} /></div>
    <p class="soft small">${project}</p>
    ${error ? html`<p class="bad">${error}</p>` : html`<p class="row small">${many(living ?? 0, "member")}${needs > 0 && html`<span class="tag asks">${words(`${many(needs, "thing")} for you`)}</span>`}</p>`}
  </li>`;
}
