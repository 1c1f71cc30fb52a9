/** The comments of a task, and the form for a new one. */
import { html } from "../html.js";
import { useState } from "../vendor/hooks.js";
import { useLoaded } from "../data/load.js";
import { team } from "../data/team.js";
import { Field, Form, Since, cleared } from "./common.js";
import { complain } from "./notices.js";
import { Text } from "./shown.js";

export function Comments({ task }) {
  const own = team.value;
  const [comments, setComments] = useState(null);
  const load = () => own.call("task.comment.list", { task_id: task.id }).then((answer) => setComments(answer.comments), complain);
  // A comment does not change its task, so only an event tells that somebody has written one.
  const written = own.events.all.findLast(({ event, detail }) => event === "task.comment" && detail?.task === task.id);
  useLoaded(load, [task.id, task.updated_at, task.status, written?.id]);
  const send = async ({ content }, form) => {
    await own.call("task.comment.create", { task_id: task.id, content });
    cleared(form, "content", content);
    await load();
  };
  return html`<section class="stack" aria-label="Comments">
    <h3>Comments</h3>
    ${comments?.length === 0 && html`<p class="soft">None yet.</p>`}
    <ol class="comments">${comments?.map((comment) => html`<li key=${comment.id}>
      <p class="row wrap small"><strong>${comment.author || comment.author_role}</strong>${comment.act && html`<span class="tag">${comment.act}</span>`}<${Since} at=${comment.created_at} /></p>
      <${Text} text=${comment.content} label=${`Comment of ${comment.author || comment.author_role}`} />
    </li>`)}</ol>
    <${Form} label="Comment" send=${send}><${Field} label="Your comment" name="content" area rows="2" required /><//>
  </section>`;
}
