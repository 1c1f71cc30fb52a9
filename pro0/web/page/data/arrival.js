/** A call ends once the lists show what it changed, since its answer and the change arrive separately. */
import { ENDED } from "./words.js";

const moment = (text) => Date.parse(text ?? "") || 0;

/** Wait until the lists of a team show what a call has changed, for a few seconds at most. */
export function arrived({ tasks, members, later }, method, params, answer) {
  const { task_id: task, name } = params ?? {};
  if (method === "task.delete") return tasks.until(() => !tasks.get(task));
  if (method === "task.start") return tasks.until(() => tasks.get(task)?.status !== "open");
  if (method.startsWith("task.") && answer?.updated_at) return tasks.until(() => moment(tasks.get(answer.id)?.updated_at) >= moment(answer.updated_at));
  if (method === "member.spawn") return members.until(() => members.get(answer.agent_id)?.incarnation === answer.incarnation);
  if (method === "member.restart") return members.until(() => !ENDED.includes(members.get(answer.agent_id)?.state));
  if (["plan.approve", "plan.reject"].includes(method)) return members.until(() => members.get(name)?.plan !== "handed in");
  if (method === "message.send") return later.messages?.until(() => later.messages.get(answer.id));
  return undefined;
}
