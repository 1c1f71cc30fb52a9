/** Who this browser is for the server: paired once by a code, known by a secret of its own. */
import { signal } from "../vendor/signals.js";

const KEPT = "pro0.device";

/** {id, name, rights, secret, code}, or null before it is paired; the code is the one that it came in by, and used up. */
export const device = signal(kept());

function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEPT));
  } catch {
    return null;
  }
}

/** The protocols of a WebSocket: the secret goes where no address and no log shows it. */
export const protocols = () => (device.value ? ["pro0", `secret.${device.value.secret}`] : ["pro0"]);

/**
 * Take the code out of the address, if there is one, and pair with it; an error is thrown. The one that this browser came
 * in by is not sent again: it counts once, and each wrong try counts against all.
 */
export async function pair() {
  const [, code] = /^#pair=(.+)$/.exec(location.hash) ?? [];
  if (!code) return;
  history.replaceState(null, "", location.pathname);
  if (decodeURIComponent(code) !== device.value?.code) await pairWith(decodeURIComponent(code));
}

export async function pairWith(code) {
  const answer = await fetch("/pair", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code, name: deviceName() }),
  });
  const result = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(result.error.message), result.error);
  device.value = { ...result, code };
  localStorage.setItem(KEPT, JSON.stringify(device.value));
}

const BROWSERS = [["Edg/", "Edge"], ["Firefox/", "Firefox"], ["Chrome/", "Chrome"], ["Safari/", "Safari"]];
const SYSTEMS = [["Android", "Android"], ["iPhone", "iPhone"], ["iPad", "iPad"], ["Mac OS", "Mac"], ["Windows", "Windows"], ["Linux", "Linux"]];

function deviceName() {
  const named = (table) => table.find(([sign]) => navigator.userAgent.includes(sign))?.[1];
  return [named(BROWSERS) ?? "a browser", named(SYSTEMS)].filter(Boolean).join(" on ");
}

/** True when the device may do this: "look", "answer" or "all". */
export const may = (right) => RIGHTS.indexOf(device.value?.rights ?? "look") >= RIGHTS.indexOf(right);

const RIGHTS = ["look", "answer", "all"];
