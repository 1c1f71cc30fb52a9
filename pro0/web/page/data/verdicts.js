/** Verdicts about tasks are bound to what the person was shown: the server refuses one about a task that has changed. */
const ABOUT_TASKS = new Set(["task.approve", "task.reject", "task.clear", "task.close", "task.continue", "task.delete", "task.reopen"]);

/** The parameters of a call. A verdict also gets the digest of the task as it is on the screen. */
export const bound = (task, method, params) => (ABOUT_TASKS.has(method) && task?.digest ? { ...params, shown: task.digest } : params);

/** True when this call is a verdict about a task that is not shown yet. */
export const isUnseen = (task, method) => ABOUT_TASKS.has(method) && !task;
