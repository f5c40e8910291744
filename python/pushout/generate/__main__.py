"""The entry point of `python -m pushout.generate`."""

import sys

from pushout.generate import main

if __name__ == "__main__":
    sys.exit(main())
