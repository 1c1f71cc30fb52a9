/** The page: the frame, and in it the screen that the address names. */
import { render } from "./vendor/preact.js";
import { html } from "./html.js";
import { codeInAddress, device, pair } from "./data/device.js";
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

// An address with a code that is entered where the page is open changes the hash alone, so nothing loads by itself.
addEventListener("hashchange", async (event) => {
  if (!codeInAddress()) return;
  event.stopImmediatePropagation(); // to others the code would be the name of a team
  let error = null;
  await pair().catch((caught) => (error = caught));
  history.replaceState(null, "", event.oldURL);
  if (!error) location.reload();
  else if (device.value) complain(error);
  else unpaired(error);
});

start();
