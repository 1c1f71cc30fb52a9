"""Git in one folder: it runs no program named by a repository, asks nothing, and ignores a hook's variables.

Programs with a fixed key in git's settings are turned off in every call. Filters and drivers have keys chosen by the
repository. Git runs them when it reads or writes files. So such calls use a repository of our own around the same
objects. It takes only plain values from the real repository's settings. Only filters and drivers of the person's own
settings (`~/.gitconfig`) run. Only a call for a member on another machine reaches another repository. Commits of
worktrees use an index of their own. So neither the lock of a killed git nor an unfinished merge is in the way.
"""
