/** Devices: which browsers were let in, with which rights, and how to shut one out. */
import { html } from "../html.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { about, home } from "../data/home.js";
import { useLoaded } from "../data/load.js";
import { Empty, Heading, Since } from "../parts/common.js";
import { confirmed } from "../parts/dialog.js";
import { attempt } from "../parts/notices.js";

const LOOK = 3000;
const RIGHTS = { look: "may look", answer: "may look and answer", all: "may do everything" };

export function Devices() {
  const [devices, setDevices] = useState(null);
  const [error, setError] = useState(null);
  const load = () => home.call("device.list").then((answer) => setDevices(answer.devices), setError);
  useLoaded(load, [], home);
  // There is no subscription to devices, so the list is polled for a device that is being paired.
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === "visible" && home.state.value === "open" && load(), LOOK);
    return () => clearInterval(timer);
  }, []);
  const mine = about.value?.device?.id;
  const revoke = ({ id, name }) => confirmed(`Shut ${name} out?`, "It has to be paired again before it sees anything.", "Shut it out", () =>
    attempt(() => home.call("device.revoke", { device: id }), `${name} is shut out`).then(load));
  return html`<div class="narrow"><${Heading} title="Devices" />
    <p class="soft about">To pair another browser, type in your terminal: <code>pro0 web pair</code></p>
    ${devices === null && error && html`<${Empty} title=${error.message}>${error.hint}<//>`}
    ${devices === null && !error && html`<p class="empty soft" role="status">One moment …</p>`}
    <ul class="cards">${devices?.map((device) => html`<li key=${device.id} class="card row between wrap">
      <span class="stack tight"><strong>${device.name}${device.id === mine && " (this browser)"}</strong><span class="row small soft">${RIGHTS[device.rights]}<${Since} at=${device.paired_at} /></span></span>
      <button type="button" class="act danger" aria-label=${`Shut out ${device.name}`} onClick=${() => revoke(device)}>Shut out</button></li>`)}</ul></div>`;
}
