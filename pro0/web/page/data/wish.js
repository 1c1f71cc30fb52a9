/** An act chosen in the palette: the screen of its subject opens, with the focus on that act. */
import { signal } from "../vendor/signals.js";
import { go } from "./route.js";

/** {of, label}, or null when there is none. */
const wish = signal(null);

/** Show a subject, or a whole screen, with the focus on an act of it: the person sees the subject before acting. */
export function goTo(screen, item, label) {
  wish.value = { of: item || screen, label };
  go(screen, item);
}

/** The label of the act that was chosen for a subject; "" for none. */
export const wanted = (of) => (wish.value?.of === of ? wish.value.label : "");

/** Focus the chosen act and forget the choice. Returns false when the act is not drawn. */
export function focusWanted() {
  const act = document.querySelector("[data-wanted]");
  act?.focus();
  wish.value = null;
  return Boolean(act);
}
