/** The identity of this browser for the server: it pairs once with a code, and then proves itself with a secret. */
import { signal } from "../vendor/signals.js";

const KEPT = "pro0.device";

/** {id, name, rights, secret, code}, or null before pairing. `code` is the code it paired with, now used up. */
export const device = signal(kept());

function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEPT));
  } catch {
    return null;
  }
}

/** The subprotocols of a WebSocket. They carry the secret, so that it appears in no address and no log. */
export const protocols = () => (device.value ? ["pro0", `secret.${device.value.secret}`] : ["pro0"]);

export const codeInAddress = () => /^#pair=(.+)$/.exec(location.hash)?.[1];

/**
 * Take the code out of the address, if there is one, and pair with it; throws when pairing fails. The code that this
 * browser paired with is not sent again: it is used up, and each wrong attempt counts against all browsers.
 */
export async function pair() {
  const code = codeInAddress();
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
