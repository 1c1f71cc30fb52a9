"""The target of the guard's argv: `python -I -S .../pro0/guard/__main__.py LAUNCH`.

This file is small, because Python compiles a program's own file at every start, and only imports are kept compiled.
"""

import os
import sys

if __name__ == "__main__":
    # Append, not prepend: files beside an installed pro0 must not hide the standard library.
    sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))  # noqa: PTH100, PTH120
    if sys.platform != "linux":  # the identity of a process needs psutil there
        import site

        site.main()
    from pro0.guard.run import main

    main(sys.argv)
