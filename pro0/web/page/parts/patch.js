/** One file of a patch, with a place for a comment on every line. */
import { html } from "../html.js";
import { useState } from "../vendor/hooks.js";
import { Field } from "./common.js";

const SHOWN = 400;
const KINDS = { "+": "added", "-": "removed", "@": "hunk", "\\": "hunk", " ": "" };

export function FilePatch({ file, comments, comment, drop }) {
  const [shown, setShown] = useState(SHOWN);
  const [at, setAt] = useState(null);
  const lines = file.lines.slice(0, shown);
  return html`<details class="patch" open>
    <summary><code>${file.path}</code></summary>
    <div class="scroll" tabindex="0" role="group" aria-label=${`Lines of ${file.path}`}><table><tbody>${lines.map((line, place) => {
      const key = `${file.path}:${place}`;
      const number = line.now ?? line.old;
      const text = comments[key]?.text;
      return html`<tr key=${place} class=${KINDS[line.kind]}>
          <td class="number">${number && html`<button type="button" aria-label=${`Comment on line ${number} of ${file.path}`} onClick=${() => setAt(at === place ? null : place)}>${number}</button>`}</td>
          <td class="code"><span class="sr">${KINDS[line.kind]} </span>${line.kind === "@" ? line.text : `${line.kind}${line.text}`}</td></tr>
        ${(at === place || text) && html`<tr key=${`${place}.`}><td></td><td class="remark">
          ${at === place ? html`<${Remark} text=${text} save=${(words) => (words ? comment(key, { path: file.path, line: number, code: line.text, text: words }) : drop(key), setAt(null))} />` : html`<p>${text}</p>`}</td></tr>`}`;
    })}</tbody></table></div>
    ${file.lines.length > shown && html`<button type="button" class="act" onClick=${() => setShown(shown + 10 * SHOWN)}>Show ${file.lines.length - shown} more lines</button>`}
  </details>`;
}

function Remark({ text, save }) {
  const submit = (event) => {
    event.preventDefault();
    save(new FormData(event.currentTarget).get("text").trim());
  };
  return html`<form onSubmit=${submit} class="stack"><${Field} label="Your comment" name="text" area rows="2" value=${text} autofocus /><div class="row"><button class="act primary">Keep it</button></div></form>`;
}
