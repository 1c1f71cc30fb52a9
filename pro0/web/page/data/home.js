/** What concerns no single team: the server, this browser, the teams there are. */
import { computed, effect, signal } from "../vendor/signals.js";
import { Connection } from "./connection.js";
import { List } from "./list.js";

export const home = new Connection("/rpc");

/** {version, device, pin}, null before it is known. */
export const about = signal(null);

const list = new List(home, "team.list", (team) => team.name);

/** The teams, null before they are known. */
export const teams = computed(() => (list.ready.value ? list.all : null));

effect(() => {
  if (home.state.value === "open") home.call("home.show").then((shown) => (about.value = shown), () => {});
});
