/** The entries of the palette: every screen, act, member, task and role by its name. */
import { attempt } from "./notices.js";
import { memberActs } from "./memberacts.js";
import { newMember } from "./memberform.js";
import { editRole, removeRole } from "./roleform.js";
import { taskActs } from "./taskacts.js";
import { newTask } from "./taskform.js";
import { writeToAll } from "./writing.js";
import { TABS } from "../screens/membertabs.js";
import { MARK } from "../screens/messages.js";
import { SCREENS } from "../screens/table.js";
import { go } from "../data/route.js";
import { byPriority, team } from "../data/team.js";
import { words } from "../data/words.js";
import { goTo } from "../data/wish.js";

const act = (text, run) => ({ text, kind: "act", run });
const called = (text, method, params, done) => act(text, () => attempt(() => team.value.call(method, params), done));

/** The entries before anything is typed: screens, acts without a subject, members, tasks. */
export function names() {
  const own = team.value;
  return [
    ...SCREENS.map(({ name, title }) => ({ text: title, kind: "screen", run: () => go(name) })),
    act("New task", () => newTask()),
    act("New member", newMember),
    act("New role", () => editRole(null)),
    act("Choose another team", () => (location.hash = "#/")),
    act("Write to all members", writeToAll),
    act("Mark all messages as read", () => goTo("messages", "", MARK)),
    called("Pause the team: no task can be claimed", "team.pause", { paused: true }, "paused: no task can be claimed"),
    called("End the pause of the team", "team.pause", { paused: false }, "the pause is over: tasks can be claimed"),
    act("Set the limit of the team", () => go("cost")),
    act("Merge or end a worker", () => go("workers")),
    act("Shut a device out", () => go("devices")),
    ...own.members.all.map(({ agent_id, state }) => ({ text: agent_id, kind: state, run: () => go("member", agent_id) })),
    ...own.tasks.all.sort(byPriority).map(({ id, title, status }) => ({ text: `${id} ${title}`, kind: words(status), run: () => go("tree", id) })),
  ];
}

/** The acts on each member, task and role, offered once something is typed. */
export function acts() {
  const own = team.value;
  return [
    ...own.members.all.flatMap((member) => [
      ...memberActs(member).map((label) => about(label, member.agent_id, () => goTo("member", member.agent_id, label))),
      ...TABS.map(({ name, title }) => about(title, member.agent_id, () => go("member", `${member.agent_id}@${name}`))),
    ]),
    ...own.tasks.all.sort(byPriority).flatMap((task) => taskActs(task).map((label) => about(label, `${task.id} ${task.title}`, () => goTo("tree", task.id, label)))),
    ...own.roles.value.flatMap((role) => [about("Edit the role", role.name, () => editRole(role)), about("Delete the role", role.name, () => removeRole(role))]),
  ];
}

const about = (label, subject, run) => act(`${label}: ${subject}`, run);
