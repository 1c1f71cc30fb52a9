"""The part of a first prompt that is meant for its session alone; the rest is the same for all sessions."""

from pro0.rules.words.assignment import TASK
from pro0.rules.words.welcome import ASKED


def asked(prompt: str) -> str:
    """Return the part of a first prompt with its instructions, or the whole prompt without such a part.

    If the heading of that part occurs twice, the result begins at the first one: it may be longer, never shorter.
    """
    places = [place for head in (TASK, ASKED) if (place := prompt.find(f"\n\n{head}")) >= 0]
    return prompt[min(places) :].strip() if places else prompt.strip()
