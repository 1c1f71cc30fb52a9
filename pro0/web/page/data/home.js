/** What concerns no single team: the server, this browser, the teams there are. */
import { effect, signal } from "../vendor/signals.js";
import { Connection } from "./connection.js";

export const home = new Connection("/rpc");

/** {version, device, pin}, null before it is known. */
export const about = signal(null);

/** The teams, null before they are known. */
export const teams = signal(null);

effect(() => {
  if (home.state.value === "open") Promise.all([home.call("home.show"), loadTeams()]).then(([shown]) => (about.value = shown), console.warn);
});

export async function loadTeams() {
  teams.value = (await home.call("team.list")).teams;
}
