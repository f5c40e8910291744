"""The door of the command line: whoever interrupts while the rest is being loaded sees no traceback either."""

import gc
import os
import sys


def main() -> None:
    """Load the command line and run it."""
    gc.disable()  # modules are no garbage: to look for some while they load takes a tenth of the time
    try:
        from pushout import cli
    except KeyboardInterrupt:
        sys.stderr.write("interrupted: nothing was kept\n")
        sys.stderr.flush()
        os._exit(130)
    gc.enable()
    cli.main()


if __name__ == "__main__":
    main()
