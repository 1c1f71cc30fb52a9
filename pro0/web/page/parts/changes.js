/** The changes of a member: files and lines, comments that are sent to it as one message, and the merge. */
import { html } from "../html.js";
import { useRef, useState } from "../vendor/hooks.js";
import { useLoaded } from "../data/load.js";
import { team } from "../data/team.js";
import { followed, parsePatch } from "../data/patch.js";
import { many } from "../data/words.js";
import { Act, Empty } from "./common.js";
import { FilePatch, Remark } from "./patch.js";

export function Changes({ member }) {
  const own = team.value;
  const name = member.agent_id;
  const [seen, setSeen] = useState(null);
  const [error, setError] = useState(null);
  const [comments, setComments] = useState({});
  const typed = useRef({});
  const load = () => Promise.all([own.call("diff.show", { name }), own.call("diff.patch", { name })]).then(([diff, patch]) => {
    const files = parsePatch(patch.patch);
    setSeen({ diff, patch, files });
    setComments((before) => followed(before, files));
    setError(null);
  }, setError);
  useLoaded(load, [name]);
  if (error) return html`<${Empty} title=${error.message}>${error.hint}<//>`;
  if (!seen) return html`<p class="empty soft" role="status">One moment …</p>`;
  const { diff, patch, files } = seen;
  const kept = Object.values(comments).filter(({ text }) => text);
  const gone = Object.entries(comments).filter(([, entry]) => entry.gone);
  const change = (key, entry) => setComments(({ [key]: _, ...others }) => (entry ? { ...others, [key]: entry } : others));
  const send = async () => {
    const content = kept.map(({ path, line, code, text }) => `${path}:${line}: ${text}\n> ${code}`).join("\n\n");
    await own.call("message.send", { to: name, content });
    const sent = new Set(kept.map(({ id }) => id));
    setComments((now) => Object.fromEntries(Object.entries(now).filter(([, { id }]) => !sent.has(id))));
  };
  return html`<div class="stack">
    <p class="row wrap"><span>${many(diff.files.length, "file")}</span><span class="tone green">+${diff.added}</span><span class="tone red">−${diff.removed}</span>
      <span class="soft">${many(diff.commits.length, "commit")}${diff.uncommitted > 0 && `, ${many(diff.uncommitted, "file")} not committed`}</span>
      ${diff.shared && html`<span class="tag">in the project's folder, which others change too</span>`}</p>
    ${diff.unreadable && html`<p class="bad">${diff.unreadable}</p>`}
    <div class="row wrap">
      ${kept.length > 0 && html`<${Act} label=${`Send ${many(kept.length, "comment")}`} look="primary" run=${send} done=${`sent to ${name}`} />`}
      ${diff.commits.length > 0 && !diff.shared && html`<${Merge} name=${name} diff=${diff} merged=${load} />`}
      <${Act} label="Refresh" run=${load} />
    </div>
    ${!files.length && html`<${Empty} title="No changes">There are none since the commit that the member began with.<//>`}
    ${gone.length > 0 && html`<section class="stack" aria-label="Comments on lines that are gone"><h3>On lines that are gone</h3>${gone.map(([key, entry]) => html`<div key=${entry.id} class="card stack">
      <p class="quote small">${entry.path}:${entry.line}: ${entry.code}</p><${Remark} entry=${entry} change=${(next) => change(key, next)} typed=${typed.current} />
      <div class="row"><button type="button" class="act" onClick=${() => change(key, null)}>Delete comment</button></div></div>`)}</section>`}
    ${files.map((file) => html`<${FilePatch} key=${file.key} file=${file} comments=${comments} change=${change} typed=${typed.current} />`)}
    ${patch.cut && html`<p class="soft">The rest is too long to be shown. On the command line: <code>pro0 diff ${name}</code></p>`}
  </div>`;
}

function Merge({ name, diff, merged }) {
  const own = team.value;
  const [conflicts, setConflicts] = useState(null);
  useLoaded(() => own.call("member.predict", { name }).then(setConflicts, () => setConflicts(null)), [name, diff]);
  if (conflicts?.length) return html`<p class="tag asks">a merge would conflict in ${conflicts.join(", ")}</p>`;
  const run = async () => {
    await own.call("member.merge", { name });
    await merged();
  };
  return html`<${Act} label="Merge" run=${run} done=${`what ${name} committed is merged`} />`;
}
