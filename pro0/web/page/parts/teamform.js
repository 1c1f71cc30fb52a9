/** The form of a new team: its goal or a layout, its members, its first tasks. */
import { html } from "../html.js";
import { useState } from "../vendor/hooks.js";
import { home, teams } from "../data/home.js";
import { useLoaded } from "../data/load.js";
import { goFrom } from "../data/route.js";
import { team } from "../data/team.js";
import { Choice, Field, Form } from "./common.js";
import { closeDialog, closer, openDialog } from "./dialog.js";
import { complain } from "./notices.js";

const lines = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

export const startTeam = () => openDialog("Start a team", () => html`<${TeamForm} cancel=${closeDialog} />`);

/** Return the member that a line such as "ada=claude reviewer" names; throws an error for any other line. */
function memberOf(line) {
  const [, name, agent, role] = /^([^=\s]+)\s*=\s*(\S+)(?:\s+(\S+))?$/.exec(line) ?? [];
  if (!name) throw Object.assign(new Error(`"${line}" does not describe a member`), { hint: "write one per line, such as ada=claude reviewer" });
  return { name, agent, ...(role && { role }) };
}

export function TeamForm({ cancel = null }) {
  const [step, setStep] = useState("");
  const [agents, setAgents] = useState([]);
  const known = (teams.value?.find(({ name }) => name === team.value?.name) ?? teams.value?.[0])?.project ?? "";
  const [typed, setProject] = useState(null);
  const project = typed ?? known;
  const [layouts, setLayouts] = useState([]);
  useLoaded(() => home.call("agent.list").then((answer) => setAgents(answer.agents.filter(({ usable }) => usable)), complain), [], home);
  useLoaded(() => project && home.call("layout.list", { project }).then((answer) => setLayouts(answer.layouts), () => setLayouts([])), [project], home);
  const send = async ({ name, goal, layout, lead, members, tasks }) => {
    const given = { goal, layout, lead, members: lines(members).map(memberOf), tasks: lines(tasks) };
    const named = Object.fromEntries(Object.entries(given).filter(([, value]) => value?.length));
    const [close, show] = [closer(), goFrom()];
    const made = await home.call("team.start", { name, project, ...named }, setStep);
    close();
    show("needs", "", made.team ?? name);
    return made;
  };
  return html`<${Form} label="Start" send=${send} done="the team is started" cancel=${cancel}>
    <${Field} label="Name" name="name" required autofocus />
    <${Field} label="Project" about="its folder" name="project" required value=${project} onChange=${(event) => setProject(event.target.value)} />
    <${Field} label="Goal" about="what the lead agent is told" name="goal" area />
    <div class="pair"><${Choice} label="Lead agent" name="lead" options=${[["", "as in the settings"], ["none", "none"], ...agents.map(({ agent }) => [agent, agent])]} />
      <${Choice} label="Layout" name="layout" options=${[["", "none"], ...layouts.map((layout) => [layout, layout])]} /></div>
    <${Field} label="Members" about="one per line: name=agent role" name="members" area rows="3" placeholder="ada=claude" />
    <${Field} label="Tasks" about="one per line" name="tasks" area rows="3" />
    <p class="soft" role="status">${step}</p>
  <//>`;
}
