/** What members have used: tokens and money. */
import { html } from "../html.js";
import { team } from "../data/team.js";
import { costOf } from "../data/words.js";
import { Empty, Loading } from "./common.js";

const COLUMNS = [["Input", "input_tokens"], ["Output", "output_tokens"], ["From cache", "cache_read_tokens"], ["Into cache", "cache_write_tokens"]];
const count = (tokens) => (tokens ?? 0).toLocaleString("en", { notation: "compact", maximumFractionDigits: 1 });

export function Usage({ rows, total = null }) {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Usage"><table class="figures">
    <thead><tr><th scope="col">Who</th><th scope="col">Cost</th>${COLUMNS.map(([title]) => html`<th key=${title} scope="col">${title}</th>`)}<th scope="col">Models</th></tr></thead>
    <tbody>${rows.map((row) => html`<${Row} key=${row.agent_id} row=${row} />`)}</tbody>
    ${total && html`<tfoot><${Row} row=${{ ...total, agent_id: "total" }} /></tfoot>`}
  </table></div>`;
}

function Row({ row }) {
  return html`<tr><th scope="row">${row.agent_id}</th><td>${costOf(row)}</td>${COLUMNS.map(([title, field]) => html`<td key=${title}>${count(row[field])}</td>`)}<td class="soft">${row.models?.join(", ")}</td></tr>`;
}

export function MemberCost({ member }) {
  const { costs } = team.value;
  const cost = costs.get(member.agent_id);
  if (!costs.ready.value) return html`<${Loading} list=${costs} />`;
  return cost ? html`<${Usage} rows=${[cost]} />` : html`<${Empty} title="No usage is known">What an agent reports of its usage is shown here.<//>`;
}
