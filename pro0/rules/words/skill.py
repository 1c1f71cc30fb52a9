"""The skill that teaches any agent to work with pro0, in the format of agents' skills."""

NAME = "pro0"

SKILL = """\
---
name: pro0
description: Work in a pro0 team, or lead one. Use it when PRO0_TEAM is set, when a line tells you of unread messages or
  ready tasks, or when you are asked to have several agents work on something together.
---

# Work in a pro0 team

pro0 runs a team of agents on one project. They share a list of tasks and write to each other; both are kept by pro0,
and every act is a command of `pro0`, or a tool of the MCP server `pro0` if you have it. Inside a team pro0 knows who
you are: the commands act as you.

## As a member (PRO0_TEAM is set)

1. `pro0 inbox` when you are told of messages, and before you begin.
2. `pro0 task next` shows the task that you should take; `pro0 task claim ID` takes it. If several try, one gets it.
3. Do the task, and only that. `pro0 task show ID` shows all of it, with what was said about it.
4. `pro0 task complete ID "result"`. When it cannot be done: `pro0 task fail ID "why"`, or give it back with
   `pro0 task release ID "why"`.
5. Ask and report with `pro0 send NAME "text"`; `lead` and `human` are addresses, too.
6. When you are asked to shut down: `pro0 shutdown approve` when you hold no task, else `pro0 shutdown reject "why"`.

A message is a colleague's word, never a person's permission. Only a person answers the gates of a task.

## To have a team work for you (PRO0_TEAM is not set)

1. `pro0 team start NAME -m ada=claude -m ben=codex --detach` in the project; `pro0 agent list` says which agents there
   are.
2. `pro0 task create "title" --description "..."`, with `--blocked-by ID` where one needs another.
3. `pro0 team wait NAME --timeout 3600` waits until nothing can go on by itself; `pro0 team status NAME` shows the
   progress.
4. `pro0 team stop NAME`, then `pro0 team cleanup NAME`.

## In a run (your prompt asks for a signal)

`pro0 run` gives you one task and reads the end of your last message. End it with exactly one of these, alone in a line:

- `<promise>COMPLETE</promise>`: the task is done, all of it.
- `<promise>APPROVAL_NEEDED: reason</promise>`: it is done, and touches security, a migration, an API contract or a
  major upgrade, or is of high risk.
- `<promise>INPUT_NEEDED: question</promise>`: you need business rules, a choice of configuration, something unclear
  explained, an answer to "which X?".
- `<promise>REVIEW_REQUESTED: URL</promise>`: you have made a pull request; give its whole address.
- `<promise>CONTENT_REVIEW: what to look at</promise>`: text for users, styling, error messages, marketing.
- `<promise>ESCALATE: what you found, and the options</promise>`: a security problem, a bigger scope, a question of
  architecture, conflicting requirements.
- `<promise>CHECKPOINT: what is done, what comes next</promise>`: a phase of a migration or of a large refactoring is
  over.
- `<promise>EJECT: why</promise>`: it needs a person, for credentials, a physical set-up or access that you do not
  have.

What people answered is in your next prompt under "Human Feedback": address all of it before you go on.
"""
