"""The entry point of the command line: an interrupt before `cli.main` handles it prints no traceback either."""

import gc
import os
import sys


def main() -> None:
    """Load the command line and run it."""
    gc.disable()  # loading modules creates no garbage, and searching for some takes 10 % of the time
    try:
        from pushout import cli

        gc.enable()
        cli.main()
    except KeyboardInterrupt:
        try:
            sys.stderr.write("interrupted: nothing was saved\n")
            sys.stderr.flush()
        finally:  # also if the standard error is closed
            os._exit(130)


if __name__ == "__main__":
    main()
