/** The screen that the address names: #/TEAM/SCREEN/ITEM. */
import { computed, signal } from "../vendor/signals.js";

const hash = signal(location.hash);
addEventListener("hashchange", () => (hash.value = location.hash));

export const route = computed(() => {
  const [team = "", screen = "needs", item = ""] = hash.value.replace(/^#\/?/, "").split("/").map(decoded);
  return { team, screen: screen || "needs", item };
});

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Only the team of the route: parts that read nothing else of it are not redrawn when the screen changes. */
const home = computed(() => route.value.team);

export function place(screen, item = "", team = home.value) {
  return `#/${[team, screen, item].filter(Boolean).map(encodeURIComponent).join("/")}`;
}

/** Return a function that goes to a screen, unless the person has left the present one by then. */
export function goFrom() {
  const here = route.peek();
  return (...to) => route.peek() === here && go(...to);
}

export function go(screen, item = "", team = home.value) {
  location.hash = place(screen, item, team);
}
