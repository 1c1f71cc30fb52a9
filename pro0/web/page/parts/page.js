/** The whole page: one team in its frame, the list of teams, or the pairing form. */
import { effect } from "../vendor/signals.js";
import { html } from "../html.js";
import { home, teams } from "../data/home.js";
import { go, route } from "../data/route.js";
import { around, openTeam, team } from "../data/team.js";
import { Pairing } from "../screens/pairing.js";
import { SCREENS, WITHIN } from "../screens/table.js";
import { Missing, Teams } from "../screens/teams.js";
import { Dialog } from "./dialog.js";
import { keepFocus } from "./focus.js";
import { Frame } from "./frame.js";
import { Notices } from "./notices.js";
import { withPin } from "./pin.js";

around.call = withPin;
keepFocus();
effect(() => openTeam(route.value.team));

let chosen = Boolean(location.hash);
effect(() => {
  if (chosen || !teams.value) return;
  chosen = true;
  if (!location.hash && teams.value.length === 1) go("needs", "", teams.value[0].name);
});

/** True while the server can be reached and has no team of this name. */
const isMissing = () => team.value?.connection.state.value === "refused" && teams.value?.every(({ name }) => name !== team.value.name);

export function Page() {
  if (home.state.value === "refused") return html`<${Pairing} paired=${() => location.reload()} /><${Notices} />`;
  const { screen } = route.value;
  const { draw: Screen } = [...SCREENS, ...WITHIN].find(({ name }) => name === screen) ?? SCREENS[0];
  const shown = isMissing() ? html`<${Missing} name=${team.value.name} />` : html`<${Screen} key=${`${team.value?.name}/${screen}`} />`;
  return html`${team.value ? html`<${Frame}>${shown}<//>` : html`<${Teams} />`}
    <${Dialog} /><${Notices} />`;
}
