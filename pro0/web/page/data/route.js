/** Where the person is: #/TEAM/SCREEN/ITEM. */
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

export function place(screen, item = "", team = route.value.team) {
  return `#/${[team, screen, item].filter(Boolean).map(encodeURIComponent).join("/")}`;
}

export function go(screen, item = "", team = route.value.team) {
  location.hash = place(screen, item, team);
}
