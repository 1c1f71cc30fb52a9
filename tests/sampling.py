"""What `make test` leaves to `make soak`: some variants of a test, and some long ones that others nearly cover.

Each row was chosen by the processor time that it takes. What only a row here shows, only `make soak` shows.
"""

from collections import defaultdict
from collections.abc import Iterable

import pytest

ONE_IN = {
    "tests/cli/test_bypass.py::test_no_command_goes_around_a_gate": 4,
    "tests/cli/test_bypass_surfaces.py::test_no_act_of_the_board_goes_around_a_gate": 5,
    "tests/cli/test_corrupt.py::test_refused_named_mended": 5,
    "tests/cli/test_diff.py::test_on_a_terminal_it_goes_through_the_persons_pager": 2,
    "tests/cli/test_doctor.py::test_wherever_it_is_killed_it_can_be_finished": 3,
    "tests/cli/test_outputs.py::test_what_is_printed_fits": 4,
    "tests/cli/test_ready_worktrees.py::test_the_first_build_works_unaided": 3,
    "tests/cli/test_story.py::test_resume_says_only_what_it_saw_happen": 2,
    "tests/cli/test_verdicts.py::test_without_a_terminal_none_is_given": 4,
    "tests/contracts/test_backends.py::test_a_bad_program_starts_nobody": 2,
    "tests/contracts/test_backends.py::test_opened_sessions_are_alive_in_order_and_distinct": 2,
    "tests/contracts/test_iterm2.py::test_a_nudge_is_one_printable_line": 2,
    "tests/crash/test_errors.py::test_a_disk_that_stays_broken": 4,
    "tests/crash/test_histories.py::test_one_order_explains_what_each_client_was_told": 2,
    "tests/crash/test_kills.py::test_killed_again_in_what_follows": 6,
    "tests/e2e/hostile/test_tries.py::test_a_hostile_machine_gets_a_members_rights_and_harms_nothing": 4,
    "tests/e2e/test_agents_there.py::test_a_conversation_that_is_not_there_is_begun": 3,
    "tests/e2e/test_agents_there.py::test_an_agent_there_does_what_a_member_does": 2,
    "tests/e2e/test_agents_there.py::test_nothing_is_typed_while_it_asks": 2,
    "tests/e2e/test_files_there.py::test_its_conversation_goes_on": 4,
    "tests/e2e/test_files_there.py::test_its_own_files_tell_what_it_does": 2,
    "tests/e2e/test_hosts.py::test_a_session_that_is_killed_here_ends_there": 3,
    "tests/e2e/test_odd_things.py::test_whatever_stands_there_the_lead_goes_on": 2,
    "tests/e2e/test_permission_there.py::test_an_answer_from_home_reaches_it_once": 2,
    "tests/e2e/test_permission_there.py::test_an_answer_in_its_terminal_leaves_none_for_home": 2,
    "tests/e2e/test_waits_there.py::test_mail_whose_asker_is_killed_is_given_again": 2,
    "tests/engine/test_adopting.py::test_sessions_that_were_being_started": 2,
    "tests/engine/test_announcing.py::test_a_need_is_announced_once_on_every_surface_although_leads_die": 3,
    "tests/hostile/test_modes.py::test_it_is_only_drawn": 2,
    "tests/hostile/test_obedient.py::test_whatever_it_is_told_an_agent_changes_nothing_that_is_not_its_own": 2,
    "tests/hostile/test_panes.py::test_the_line_reaches_its_pane_alone": 2,
    "tests/hostile/test_paths.py::test_an_unsafe_home_is_refused_by_everything": 2,
    "tests/hostile/test_paths.py::test_what_is_odd_is_refused": 2,
    "tests/hostile/test_size.py::test_a_file_of_tasks_is_bounded": 2,
    "tests/hostile/test_ways.py::test_each_way_is_refused_or_named": 3,
    "tests/mcp/test_gates.py::test_no_tool_goes_around_a_gate": 2,
    "tests/mcp/test_story.py::test_a_team_from_the_first_tool_to_the_last": 2,
    "tests/ops/test_archive.py::test_failing_at_every_call": 2,
    "tests/ops/test_archive.py::test_killed_at_every_call": 2,
    "tests/ops/test_bypass.py::test_no_operation_goes_around_a_gate": 4,
    "tests/ops/test_crash.py::test_killed_at_every_call": 2,
    "tests/ops/test_identity.py::test_no_member_passes_as_somebody_else": 2,
    "tests/ops/test_outbox.py::test_hit_at_every_call": 4,
    "tests/scenarios/test_demo.py::test_interrupted_in_its_first_two_seconds_it_leaves_nothing": 2,
    "tests/scenarios/test_examples.py::test_each_line_does_what_the_page_says": 2,
    "tests/scenarios/test_full_disk.py::test_who_fills_the_disk_is_ended": 2,
    "tests/scenarios/test_orphans.py::test_nothing_survives": 2,
    "tests/scenarios/test_secrets.py::test_each_secret_reaches_its_agent_and_nothing_else": 3,
    "tests/store/test_atomic.py::test_whichever_call_fails_the_old_file_stays": 2,
    "tests/store/test_copy.py::test_whenever_a_copy_is_killed_one_place_is_in_charge_and_whole": 2,
    "tests/store/test_teams.py::test_wherever_creating_fails_nothing_is_left": 2,
    "tests/store/test_teams.py::test_wherever_creating_is_killed_there_is_a_whole_team_or_none": 2,
    "tests/store/test_teams.py::test_wherever_removing_is_killed_it_can_be_finished": 2,
    "tests/test_diffs.py::test_each_kind_of_change_is_seen": 2,
    "tests/test_git_programs.py::test_no_program_of_a_repositorys_settings_runs": 3,
    "tests/test_git_programs.py::test_no_program_of_a_variable_runs": 2,
    "tests/test_travels.py::test_a_machine_that_gives_nothing_changes_nothing": 2,
    "tests/test_travels.py::test_a_name_of_a_member_is_no_path": 2,
    "tests/web/page/test_late.py::test_what_was_sent_with_the_pin_is_said_though_its_dialog_was_closed_meanwhile": 2,
}
"""Tests with variants, and of how many of them `make test` has one."""

LONG = {
    "tests/breaks/test_landscape.py::test_l1_no_last_word_is_lost",
    "tests/breaks/test_mission.py::test_2_an_answer_completes_nothing",
    "tests/breaks/test_mission.py::test_3b_resume_starts_no_dead",
    "tests/breaks/test_ux.py::test_8_merges_home",
    "tests/breaks/test_ux.py::test_8_what_a_member_changed_is_shown",
    "tests/cli/test_ahead.py::test_many_commands_of_all_kinds_print_what_they_print_alone",
    "tests/cli/test_diff.py::test_a_task_and_a_worker_are_named_too",
    "tests/cli/test_old_home.py::test_its_team_goes_on",
    "tests/cli/test_workers.py::test_nothing_to_look_at",
    "tests/e2e/test_agents_there.py::test_a_conversation_that_home_does_not_know_is_begun_anew",
    "tests/e2e/test_agents_there.py::test_what_it_uses_is_counted_at_home",
    "tests/e2e/test_database.py::test_a_team_moves_there_and_back",
    "tests/e2e/test_database.py::test_a_whole_story",
    "tests/e2e/test_every_mode.py::test_peek_and_logs_show_the_same[headless]",
    "tests/e2e/test_every_mode.py::test_peek_and_logs_show_the_same[iterm2]",
    "tests/e2e/test_every_mode.py::test_peek_and_logs_show_the_same[tmux]",
    "tests/e2e/test_every_mode.py::test_the_story_of_a_team[headless]",
    "tests/e2e/test_every_mode.py::test_the_story_of_a_team[in-process]",
    "tests/e2e/test_every_mode.py::test_the_story_of_a_team[iterm2]",
    "tests/e2e/test_every_mode.py::test_what_a_crashed_agent_printed_last_is_told[headless]",
    "tests/e2e/test_every_mode.py::test_what_a_crashed_agent_printed_last_is_told[iterm2]",
    "tests/e2e/test_files_there.py::test_its_conversation_goes_on[codex]",
    "tests/e2e/test_hosts.py::test_the_person_gives_up_what_is_out_of_reach",
    "tests/e2e/test_layouts.py::test_a_layout_is_found_by_its_name[]",
    "tests/e2e/test_life_of_a_team.py::test_a_hundred_dependent_tasks[headless]",
    "tests/e2e/test_life_of_a_team.py::test_a_killed_lead[headless]",
    "tests/e2e/test_life_of_a_team.py::test_a_killed_teammate[headless]",
    "tests/e2e/test_life_of_a_team.py::test_a_member_that_never_answers[headless]",
    "tests/e2e/test_life_of_a_team.py::test_stop_and_cleanup[headless]",
    "tests/e2e/test_permission_there.py::test_an_answer_that_comes_too_late_over_a_cut_link_is_not_taken",
    "tests/e2e/test_shared_team.py::test_a_lead_that_is_killed_is_followed_on_its_own_machine",
    "tests/e2e/test_shared_team.py::test_a_member_may_neither_join_nor_leave",
    "tests/e2e/test_shared_team.py::test_a_permission_is_answered_on_another_machine",
    "tests/e2e/test_shared_team.py::test_a_removed_team_ends_on_every_machine",
    "tests/e2e/test_shared_team.py::test_what_runs_on_a_machine_that_was_given_up_ends_there",
    "tests/e2e/test_waits_there.py::test_two_waits_at_once_get_each_message_once",
    "tests/engine/test_workers.py::test_all_is_harvested_when_nothing_moves_any_more",
    "tests/engine/test_workers.py::test_more_than_may_work_at_once_wait_in_line",
    "tests/scenarios/test_acp.py::test_after_a_crash_it_goes_on_where_it_was[tmux]",
    "tests/scenarios/test_acp.py::test_it_is_fed_answered_and_ended_by_the_protocol[headless]",
    "tests/scenarios/test_demo.py::test_a_broken_step_is_named_and_leaves_nothing",
    "tests/scenarios/test_demo.py::test_an_interrupt_in_the_making_of_a_class_has_the_code_of_any_other",
    "tests/scenarios/test_demo.py::test_an_interrupt_that_python_drops_is_not_lost[pro0.sessions.headless]",
    "tests/scenarios/test_dispatch.py::test_ten_at_once_do_not_cross[test]",
    "tests/scenarios/test_full_disk.py::test_a_lead_that_can_write_no_more_ends_them_all_the_same"
    "[in-process@build1-a member-test]",
    "tests/scenarios/test_killed.py::test_a_killed_member[headless-agent]",
    "tests/scenarios/test_killed.py::test_a_killed_member[in-process@build1-guard]",
    "tests/scenarios/test_lead_killed.py::test_while_stopping[headless-2]",
    "tests/scenarios/test_lead_killed.py::test_while_stopping[in-process@build1-1]",
    "tests/scenarios/test_permissions.py::test_an_answer_in_the_pane_is_the_first_one",
    "tests/scenarios/test_run.py::test_a_check_that_says_no_is_told_to_the_agent_which_goes_on",
    "tests/scenarios/test_run.py::test_a_turn_over_its_limit_fails_the_task_with_the_end_of_its_output",
    "tests/scenarios/test_run.py::test_an_agent_of_the_settings_does_turns",
    "tests/scenarios/test_run.py::test_it_waits_no_longer_for_work_than_it_is_told",
    "tests/scenarios/test_run.py::test_the_agent_may_say_it_by_command_too",
    "tests/scenarios/test_run.py::test_what_a_person_adds_to_a_rejection_is_in_the_prompt_too",
    "tests/scenarios/test_run_killed.py::test_a_killed_run_is_gone_on_with[plain-runner]",
    "tests/scenarios/test_steps.py::test_killed_at_every_step[headless-stop-lead]",
    "tests/scenarios/test_steps.py::test_killed_at_every_step[in-process@build1-start-lead]",
    "tests/scenarios/test_steps.py::test_killed_at_every_step[iterm2-start-lead]",
    "tests/scenarios/test_story.py::test_a_hundred_tasks_are_done_once_and_in_order[headless]",
    "tests/scenarios/test_story.py::test_a_hundred_tasks_are_done_once_and_in_order[in-process@build1]",
    "tests/scenarios/test_time.py::test_everything_stands_still_and_goes_on[in-process@build1-test]",
    "tests/scenarios/test_trees.py::test_a_tree_in_panes[headless]",
    "tests/scenarios/test_warm.py::test_it_ends_with_its_lead[15]",
}
"""Whole tests, or one variant of one."""


def leave_to_soak(items: Iterable[pytest.Item]) -> None:
    """Mark what `make test` does not run."""
    variants = defaultdict[str, list[pytest.Item]](list)
    for item in items:
        if item.nodeid in LONG:
            item.add_marker("soak")
        elif item.get_closest_marker("soak") is None:
            variants[item.nodeid.partition("[")[0]].append(item)
    for name, number in ONE_IN.items():
        for place, item in enumerate(variants[name]):
            if place % number:
                item.add_marker("soak")
