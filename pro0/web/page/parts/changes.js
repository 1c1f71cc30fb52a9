/** What a member changed: files, lines, comments on lines that go back as one message, and the merge. */
import { html } from "../html.js";
import { useState } from "../vendor/hooks.js";
import { useLoaded } from "../data/load.js";
import { team } from "../data/team.js";
import { parsePatch } from "../data/patch.js";
import { many } from "../data/words.js";
import { Act, Empty } from "./common.js";
import { FilePatch } from "./patch.js";

export function Changes({ member }) {
  const own = team.value;
  const name = member.agent_id;
  const [seen, setSeen] = useState(null);
  const [error, setError] = useState(null);
  const [comments, setComments] = useState({});
  const load = () => Promise.all([own.call("diff.show", { name }), own.call("diff.patch", { name })]).then(
    ([diff, patch]) => (setSeen({ diff, patch, files: parsePatch(patch.patch) }), setError(null)),
    setError,
  );
  useLoaded(load, [name]);
  if (error) return html`<${Empty} title=${error.message}>${error.hint}<//>`;
  if (!seen) return html`<p class="empty soft" role="status">One moment …</p>`;
  const { diff, patch, files } = seen;
  const count = Object.keys(comments).length;
  const comment = (key, entry) => setComments((before) => ({ ...before, [key]: entry }));
  const drop = (key) => setComments(({ [key]: _, ...others }) => others);
  const send = async () => {
    const sent = Object.values(comments);
    const content = sent.map(({ path, line, code, text }) => `${path}:${line}: ${text}\n> ${code}`).join("\n\n");
    await own.call("message.send", { to: name, content });
    setComments((now) => Object.fromEntries(Object.entries(now).filter(([, entry]) => !sent.includes(entry))));
  };
  return html`<div class="stack">
    <p class="row wrap"><span>${many(diff.files.length, "file")}</span><span class="tone green">+${diff.added}</span><span class="tone red">−${diff.removed}</span>
      <span class="soft">${many(diff.commits.length, "commit")}${diff.uncommitted > 0 && `, ${many(diff.uncommitted, "file")} not committed`}</span>
      ${diff.shared && html`<span class="tag">in the project's own folder: others change it too</span>`}</p>
    ${diff.unreadable && html`<p class="bad">${diff.unreadable}</p>`}
    <div class="row wrap">
      ${count > 0 && html`<${Act} label=${`Send ${many(count, "comment")}`} look="primary" run=${send} done=${`sent to ${name}`} />`}
      ${diff.commits.length > 0 && !diff.shared && html`<${Merge} name=${name} merged=${load} />`}
      <${Act} label="Look again" run=${load} />
    </div>
    ${!files.length && html`<${Empty} title="Nothing is changed">Since the commit it began with.<//>`}
    ${files.map((file) => html`<${FilePatch} key=${file.path} file=${file} comments=${comments} comment=${comment} drop=${drop} />`)}
    ${patch.cut && html`<p class="soft">The rest is too long to be shown. On the command line: <code>pro0 diff ${name}</code></p>`}
  </div>`;
}

function Merge({ name, merged }) {
  const own = team.value;
  const [conflicts, setConflicts] = useState(null);
  useLoaded(() => own.call("member.predict", { name }).then(setConflicts, () => setConflicts(null)), [name]);
  if (conflicts?.length) return html`<p class="tag asks">a merge would conflict in ${conflicts.join(", ")}</p>`;
  const run = async () => {
    await own.call("member.merge", { name });
    await merged();
  };
  return html`<${Act} label="Merge" run=${run} done=${`what ${name} committed is merged`} />`;
}
