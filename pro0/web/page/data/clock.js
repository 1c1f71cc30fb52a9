/** The time for words such as "3 min ago". It is not updated while the page is hidden. */
import { signal } from "../vendor/signals.js";

export const now = signal(Date.now());
setInterval(() => document.visibilityState === "visible" && (now.value = Date.now()), 30_000);
document.addEventListener("visibilitychange", () => (now.value = Date.now()));

const STEPS = [[60, "s", 1], [3600, "min", 60], [86_400, "h", 3600], [Infinity, "d", 86_400]];

/** The time since a moment in short, such as "now" or "3 min"; "" for an invalid moment. */
export function age(moment) {
  const seconds = Math.max(0, (now.value - Date.parse(moment)) / 1000);
  if (Number.isNaN(seconds)) return "";
  if (seconds < 45) return "now";
  const [, unit, length] = STEPS.find(([end]) => seconds < end);
  return `${Math.max(1, Math.round(seconds / length))} ${unit}`;
}

/** A moment in full, in the person's time zone. */
export const moment = (iso) => new Date(iso).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
