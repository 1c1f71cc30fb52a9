/** The form of a task, to create a new one or to edit an existing one. */
import { html } from "../html.js";
import { useLoaded } from "../data/load.js";
import { team } from "../data/team.js";
import { Choice, Field, Form } from "./common.js";
import { closeDialog, closer, openDialog } from "./dialog.js";
import { complain } from "./notices.js";

/** The ids in a text, each in full: "7" becomes "task-7". */
const ids = (text) => text.split(/[\s,]+/).filter(Boolean).map((word) => word.replace(/^\d+$/, "task-$&"));

const labelsIn = (text) => text.split(",").map((word) => word.trim()).filter(Boolean);

export const newTask = (parent = "") => openDialog(parent ? `New subtask of ${parent}` : "New task", () => html`<${TaskForm} parent=${parent} />`);

export const editTask = (task) => openDialog(`Edit ${task.id}`, () => html`<${TaskForm} task=${task} />`);

function TaskForm({ task = null, parent = "" }) {
  const own = team.value;
  useLoaded(() => own.loadRoles().catch(complain));
  const roles = [["", "none"], ...own.roles.value.map((role) => [role.id, role.name])];
  const send = async (fields) => {
    const close = closer();
    const made = await (task ? update(own, task, fields) : create(own, fields));
    close();
    return made;
  };
  return html`<${Form} label=${task ? "Save" : "Create"} send=${send} done=${(made) => `${made.id} is ${task ? "changed" : "created"}`} cancel=${closeDialog}>
    <${Field} label="Title" name="title" required value=${task?.title} autofocus />
    <${Field} label="Description" name="description" area value=${task?.description} />
    <div class="pair">
      <${Choice} label="Role" name="role" options=${roles} value=${task?.role_id ?? ""} />
      <${Field} label="Priority" about="lower goes first" name="priority" type="number" min="0" value=${task?.priority} required=${task !== null} />
    </div>
    ${!task && html`<div class="pair">
      <${Choice} label="Parent" name="parent" value=${parent} options=${[["", "none"], ...own.tasks.all.map(({ id, title }) => [id, `${id} ${title}`])]} />
      <${Choice} label="Assignee" name="assignee" options=${[["", "whoever takes it"], ...own.members.all.map(({ agent_id }) => [agent_id, agent_id])]} />
    </div>`}
    <${Field} label="After" about="ids of tasks, such as task-1, task-2" name="dependencies" value=${task?.dependencies?.join(", ")} />
    <${Field} label="Done when" name="acceptance" value=${task?.acceptance} />
    <${Field} label="Labels" about="words to find the task by, separated by commas" name="labels" value=${task?.labels?.join(", ")} />
    ${!task && html`<${Choice} label="Gate" name="requires" options=${[["", "none"], ["approval", "approval"], ["review", "review"], ["content", "content"]]} />`}
  <//>`;
}

function create(own, { title, description, role, priority, parent, assignee, dependencies, acceptance, labels, requires }) {
  return own.call("task.create", {
    title, description, acceptance,
    role_id: role || null,
    parent_id: parent || null,
    assignee: assignee || null,
    requires: requires || null,
    priority: priority === "" ? null : Number(priority),
    dependencies: ids(dependencies),
    labels: labelsIn(labels),
  });
}

function update(own, task, { title, description, role, priority, dependencies, acceptance, labels }) {
  const before = task.dependencies ?? [];
  const after = ids(dependencies);
  const changes = {
    title, description, acceptance,
    role_id: role, // "" means nobody; null would change nothing
    priority: Number(priority),
  };
  const now = { title: task.title, description: task.description, acceptance: task.acceptance ?? "", role_id: task.role_id ?? "", priority: task.priority };
  // If the task's role was deleted or is not loaded yet, the form has no value for it, and the role stays unchanged.
  const named = Object.fromEntries(Object.entries(changes).filter(([name, value]) => value !== undefined && value !== now[name]));
  const added = after.filter((id) => !before.includes(id));
  const dropped = before.filter((id) => !after.includes(id));
  if (added.length) named.add_dependencies = added;
  if (dropped.length) named.drop_dependencies = dropped;
  if (labelsIn(labels).join() !== (task.labels ?? []).join()) named.labels = labelsIn(labels);
  return own.call("task.update", { task_id: task.id, ...named });
}
