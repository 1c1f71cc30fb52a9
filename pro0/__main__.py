"""`python -m pro0` is `pro0`."""

import sys

from pro0.cli.main import entry

sys.exit(entry())
