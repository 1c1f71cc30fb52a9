/** The page: the frame, and in it the screen that the address names. */
import { render } from "./vendor/preact.js";
import { html } from "./html.js";
import { device, pair } from "./data/device.js";
import { complain } from "./parts/notices.js";

const root = document.getElementById("page");

async function start() {
  let error = null;
  await pair().catch((caught) => (error = caught));
  if (!device.value) return unpaired(error);
  const { Page } = await import("./parts/page.js");
  render(html`<${Page} />`, root);
  // An invalid code does not shut out a browser that is already paired.
  if (error) complain(error);
}

async function unpaired(error) {
  const { Pairing } = await import("./screens/pairing.js");
  render(html`<${Pairing} error=${error} paired=${() => location.reload()} />`, root);
}

start();
