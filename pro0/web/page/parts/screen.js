/** The last lines on a member's screen, read again when something about the member changes. */
import { html } from "../html.js";
import { useState } from "../vendor/hooks.js";
import { useLoaded } from "../data/load.js";
import { team } from "../data/team.js";
import { Act } from "./common.js";

const LINES = 40;

export function Screen({ member }) {
  const own = team.value;
  const [lines, setLines] = useState(null);
  const [error, setError] = useState(null);
  const look = () => own.call("member.peek", { name: member.agent_id, lines: LINES }).then(
    (screen) => (setLines(screen.lines), setError(null)),
    setError,
  );
  useLoaded(look, [member]);
  return html`<div class="stack">
    ${error ? html`<p class="soft">${error.message}</p>` : html`<div class="text mono tall" tabindex="0" role="group" aria-label="Its screen">${lines?.join("\n") ?? " "}</div>`}
    <div class="row"><${Act} label="Refresh" run=${look} /></div>
  </div>`;
}
