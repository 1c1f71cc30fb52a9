/** One file of a patch, with a place for a comment on every line. */
import { html } from "../html.js";
import { useState } from "../vendor/hooks.js";
import { lineAt, numberOf } from "../data/patch.js";
import { Field } from "./common.js";

const SHOWN = 400;
const KINDS = { "+": "added", "-": "removed", "@": "hunk", "\\": "hunk", " ": "" };

let count = 0;

/** `change` stores or removes the comment at a place. `typed` holds unfinished texts by the ids of their comments. */
export function FilePatch({ file, comments, change, typed }) {
  const [shown, setShown] = useState(SHOWN);
  const lines = file.lines.slice(0, shown);
  const toggle = (key, place) => {
    const entry = comments[key];
    if (entry?.open) delete typed[entry.id];
    if (entry?.open) change(key, entry.text && { ...entry, open: false });
    else change(key, { id: ++count, file: file.key, path: file.path, text: "", ...lineAt(file.lines, place), ...entry, open: true });
  };
  return html`<details class="patch" open>
    <summary><code>${file.path}</code></summary>
    <div class="scroll" tabindex="0" role="group" aria-label=${`Lines of ${file.path}`}><table><tbody>${lines.map((line, place) => {
      const key = `${file.key}:${place}`;
      const number = numberOf(line);
      const entry = comments[key];
      return html`<tr key=${place} class=${KINDS[line.kind]}>
          <td class="number">${number && html`<button type="button" aria-label=${`Comment on line ${number} of ${file.path}`} onClick=${() => toggle(key, place)}>${number}</button>`}</td>
          <td class="code"><span class="sr">${KINDS[line.kind]} </span>${line.kind === "@" ? line.text : `${line.kind}${line.text}`}</td></tr>
        ${entry && html`<tr key=${`comment ${entry.id}`}><td></td><td class="remark"><${Remark} entry=${entry} change=${(next) => change(key, next)} typed=${typed} /></td></tr>`}`;
    })}</tbody></table></div>
    ${file.lines.length > shown && html`<button type="button" class="act" onClick=${() => setShown(shown + 10 * SHOWN)}>Show ${file.lines.length - shown} more lines</button>`}
  </details>`;
}

/** A comment, or the form in which it is typed. */
export function Remark({ entry, change, typed }) {
  if (!entry.open) return html`<p>${entry.text}</p>`;
  const submit = (event) => {
    event.preventDefault();
    const text = new FormData(event.currentTarget).get("text").trim();
    delete typed[entry.id];
    change(text && { ...entry, id: ++count, text, open: false });
  };
  return html`<form onSubmit=${submit} class="stack"><${Field} label="Your comment" name="text" area rows="2" value=${typed[entry.id] ?? entry.text} onInput=${(event) => (typed[entry.id] = event.target.value)} autofocus />
    <div class="row"><button class="act primary">Save comment</button></div></form>`;
}
