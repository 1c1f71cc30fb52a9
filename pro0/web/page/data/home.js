/** The data that belongs to no single team: the server, this browser, and the list of teams. */
import { computed, effect, signal } from "../vendor/signals.js";
import { Connection } from "./connection.js";
import { List } from "./list.js";

export const home = new Connection("/rpc");

/** {version, device, pin}, null before they are loaded. */
export const about = signal(null);

const list = new List(home, "team.list", (team) => team.name);

/** The teams, null before they are loaded. */
export const teams = computed(() => (list.ready.value ? list.all : null));

effect(() => {
  if (home.state.value === "open") home.call("home.show").then((shown) => (about.value = shown), () => {});
});
