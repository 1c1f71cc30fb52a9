/** Cost and limits: who has used what, how much the team may cost, which agents have to wait. */
import { html } from "../html.js";
import { useState } from "../vendor/hooks.js";
import { moment } from "../data/clock.js";
import { useLoaded } from "../data/load.js";
import { team } from "../data/team.js";
import { costOf, money } from "../data/words.js";
import { Empty, Field, Form, Heading, Loading } from "../parts/common.js";
import { complain } from "../parts/notices.js";
import { Usage } from "../parts/usage.js";

export function CostAndLimits() {
  const own = team.value;
  const [known, setKnown] = useState(null);
  const { costs } = own;
  const load = () => Promise.all([own.call("team.cost"), own.call("team.status")]).then(([cost, status]) => setKnown({ cost, status }), complain);
  // Loaded again when a limit is set elsewhere, which is an event, or when an agent has to wait, which is a need.
  const limited = own.events.all.findLast(({ event }) => event === "team.limit");
  useLoaded(load, [costs.items.value, limited?.id, own.needs.items.value]);
  const heading = html`<${Heading} title="Cost and limits" />`;
  if (!known) return html`${heading}<${Loading} list=${costs} />`;
  const { cost, status } = known;
  const limits = status.limits ?? [];
  const send = async ({ usd }) => (await own.call("team.limit", { usd: Number(usd) }), await load());
  return html`${heading}<div class="stack sections">
    <p class="row wrap"><strong class="figure">${costOf(cost.total)}</strong><span class="soft">${cost.limit_usd ? `of ${money(cost.limit_usd)}` : "without a limit"}${cost.estimate ? ", estimated from the tokens" : ""}</span></p>
    ${cost.limit_usd > 0 && html`<meter min="0" max=${cost.limit_usd} high=${0.8 * cost.limit_usd} value=${cost.total.known_usd} aria-label="Cost within the limit"></meter>`}
    ${cost.members.length ? html`<${Usage} rows=${cost.members} total=${cost.total} />` : html`<${Empty} title="No usage yet">The tokens that agents report are shown here.<//>`}
    <section class="narrow stack" aria-label="Limit"><h2>Limit of the team</h2>
      <${Form} key=${cost.limit_usd} label="Set" send=${send} done="the limit is set"><${Field} label="US dollars" about="0 for no limit; at the limit no new session starts" name="usd" type="number" min="0" step="0.01" value=${cost.limit_usd ?? 0} required /><//></section>
    <section class="stack" aria-label="Agents that wait"><h2>Agents that have to wait</h2>
      ${limits.length ? html`<ul class="cards">${limits.map((limit) => html`<li key=${limit.agent} class="card"><strong>${limit.agent}</strong> until ${moment(limit.until)}<p class="quote">${limit.note}</p></li>`)}</ul>` : html`<p class="soft">None.</p>`}</section>
  </div>`;
}
