/** Workers and runs: delegated tasks, each in a session of its own, and members that work off lists of tasks. */
import { html } from "../html.js";
import { useState } from "../vendor/hooks.js";
import { useLoaded } from "../data/load.js";
import { place } from "../data/route.js";
import { team } from "../data/team.js";
import { Act, Empty, Heading, State } from "../parts/common.js";
import { confirmed } from "../parts/dialog.js";
import { attempt, complain } from "../parts/notices.js";

const RUNNER = "runner";
const OVER = ["done", "failed", "cancelled"];

export function Workers() {
  const own = team.value;
  const [workers, setWorkers] = useState(null);
  const runs = own.members.all.filter(({ agent }) => agent === RUNNER);
  useLoaded(() => own.call("worker.list").then(setWorkers, complain), [own.tasks.items.value, own.members.items.value]);
  return html`<${Heading} title="Workers and runs" /><div class="stack sections">
    <section class="stack" aria-label="Workers"><h2>Workers</h2>
      ${workers === null && html`<p class="soft" role="status">One moment …</p>`}
      ${workers?.length === 0 && html`<${Empty} title="No task is delegated">On the command line: <code>pro0 delegate</code><//>`}
      <ul class="cards">${workers?.map((worker) => html`<${Worker} key=${worker.task.id} worker=${worker} />`)}</ul></section>
    <section class="stack" aria-label="Runs"><h2>Runs</h2>
      ${runs.length ? html`<ul class="cards">${runs.map((run) => html`<li key=${run.agent_id} class="card row between"><a class="whole" href=${place("member", run.agent_id)}>${run.agent_id}</a><span class="soft small">${run.task}</span><${State} word=${run.state} /></li>`)}</ul>` : html`<${Empty} title="No run is under way">On the command line: <code>pro0 run</code><//>`}</section>
  </div>`;
}

function Worker({ worker }) {
  const own = team.value;
  const { task, stage, agent_id: name } = worker;
  const kill = () => confirmed(`End ${name}?`, `${task.title} counts as failed, and its session is ended at once.`, "End it", () =>
    attempt(() => own.call("worker.kill", { name }), `${name} is being ended`));
  return html`<li class="card stack">
    <div class="row between"><h2><a href=${place("tree", task.id)}>${task.title}</a></h2><${State} word=${stage} /></div>
    <p class="row wrap small soft"><span>${task.id}</span><a href=${place("member", name)}>${name}</a>${stage === "in line" && html`<span>place ${worker.place}</span>`}${task.branch && html`<code>${task.branch}</code>`}</p>
    <div class="row wrap">
      ${task.branch && OVER.includes(stage) && html`<${Act} label="Merge" look="primary" run=${() => own.call("worker.merge", { name })} done=${`the work of ${name} is merged`} />
        <${Act} label="Would it conflict?" run=${() => own.call("worker.predict", { name })} done=${(files) => (files.length ? `a merge would conflict in ${files.join(", ")}` : "a merge would not conflict")} />`}
      ${!OVER.includes(stage) && html`<button type="button" class="act danger" onClick=${kill}>End it</button>`}
    </div>
  </li>`;
}
