"""What of a first prompt is meant for its session alone: the rest is told to all in the same words."""

from pro0.rules.words.assignment import TASK
from pro0.rules.words.welcome import ASKED


def asked(prompt: str) -> str:
    """Return the part of a first prompt that says what to do; all of it when no part says so.

    Where the words of that part stand twice, more is returned, never less.
    """
    places = [place for head in (TASK, ASKED) if (place := prompt.find(f"\n\n{head}")) >= 0]
    return prompt[min(places) :].strip() if places else prompt.strip()
