"""Help with options in sections, for commands with too many options for one list."""

from collections.abc import Mapping
from typing import Any

import click

WIDEST = 30
"""The greatest width of the first column in click's lists; a wider entry has its text on the next line."""


class SectionedCommand(click.Command):
    """A command with its options in sections in the help: title → names. The other options follow at the end."""

    def __init__(self, *words: Any, sections: Mapping[str, str], **attributes: Any) -> None:
        super().__init__(*words, **attributes)
        self.sections = {title: names.split() for title, names in sections.items()}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections, then the options without a section."""
        options = [parameter for parameter in self.get_params(ctx) if isinstance(parameter, click.Option)]
        help_records = {option.opts[-1]: record for option in options if (record := option.get_help_record(ctx))}
        width = min(WIDEST, max(len(spelt) for spelt, _ in help_records.values()))
        rows = {name: (spelt.ljust(width), about) for name, (spelt, about) in help_records.items()}
        shown = [(title, [rows.pop(name) for name in names]) for title, names in self.sections.items()]
        for title, records in (*shown, ("Other options", list(rows.values()))):
            with formatter.section(title):
                formatter.write_dl(records)
