"""The entry point of the command line: an interrupt while modules load prints no traceback either."""

import gc
import os
import sys


def main() -> None:
    """Load the command line and run it."""
    gc.disable()  # loading modules creates no garbage, and searching for some takes 10 % of the time
    try:
        from pushout import cli
    except KeyboardInterrupt:
        try:
            sys.stderr.write("interrupted: nothing was saved\n")
            sys.stderr.flush()
        finally:  # also if the standard error is closed
            os._exit(130)
    gc.enable()
    cli.main()


if __name__ == "__main__":
    main()
