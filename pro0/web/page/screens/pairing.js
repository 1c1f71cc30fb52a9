/** The screen of a browser that is not paired: where to get a code, and the form for it. */
import { html } from "../html.js";
import { pairWith } from "../data/device.js";
import { Field, Form, Heading } from "../parts/common.js";

const code = (text) => /#pair=(.+)$/.exec(text.trim())?.[1] ?? text.trim();

export function Pairing({ error, paired }) {
  const send = async ({ typed }) => {
    await pairWith(code(typed));
    paired();
  };
  return html`<main id="main" class="alone"><${Heading} title="Pair this browser" />
    ${error && html`<p class="bad" role="alert">${error.message}${error.hint && `: ${error.hint}`}</p>`}
    <p>This browser is not paired yet. For a code, type in your terminal: <code>pro0 web pair</code></p>
    <${Form} label="Pair" send=${send}><${Field} label="The code, or the whole address" name="typed" required autofocus /><//>
  </main>`;
}
