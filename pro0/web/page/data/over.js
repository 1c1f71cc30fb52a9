/** How a need that is gone was settled, from the events of its team. */
import { team } from "./team.js";

const LATEST = 100;

/** The event that settled a need: the last one by the person, else the last by anybody, else undefined. */
export async function settled(need) {
  const events = await team.value.call("event.list", { latest: LATEST }).catch(() => []);
  const about = events.filter((event) => concerns(event, need)).reverse();
  return about.find(({ actor }) => actor === "human") ?? about[0];
}

function concerns({ at, detail }, { request, subject, since }) {
  if (since && Date.parse(at) <= Date.parse(since)) return false;
  return request && detail?.request ? detail.request === request : [detail?.task, detail?.agent, detail?.subject].includes(subject);
}
