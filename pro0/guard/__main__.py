"""The guard's argv points here: `python -I -S .../pro0/guard/__main__.py LAUNCH`.

Small, because a program's own file is compiled anew at every start, while what it imports is kept compiled.
"""

import os
import sys

if __name__ == "__main__":
    # At the end: what lies beside an installed pro0 must not come before the standard library.
    sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))  # noqa: PTH100, PTH120
    if sys.platform != "linux":  # psutil, which the identity of a process needs there
        import site

        site.main()
    from pro0.guard.run import main

    main(sys.argv)
