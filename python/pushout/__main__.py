"""The entry point of the command line: an interrupt before `cli.main` handles it prints no traceback either."""

import _thread
import gc
import os
import sys
import time


def main() -> None:
    """Load the command line and run it."""
    gc.disable()  # loading modules creates no garbage, and searching for some takes 10 % of the time
    raise_again()
    try:
        from pushout import cli

        gc.freeze()  # modules stay until the end, when a search of them would take as long again
        gc.set_threshold(50_000)  # modules that a command loads later are no garbage either
        gc.enable()
        cli.main()
    except KeyboardInterrupt:
        try:
            sys.stderr.write("interrupted: nothing was saved\n")
            sys.stderr.flush()
        finally:  # also if the standard error is closed
            os._exit(130)


def raise_again() -> None:
    """Raise an interrupt again that Python ignores, because it came where exceptions cannot leave.

    Such places are the callbacks of the import lock and the end of an object: Python prints the exception and goes on.
    """
    others, main_thread = sys.unraisablehook, _thread.get_ident()

    def hook(ignored: "sys.UnraisableHookArgs") -> None:
        if issubclass(ignored.exc_type, KeyboardInterrupt):
            _thread.start_new_thread(_interrupt, (main_thread,))
        else:
            others(ignored)

    sys.unraisablehook = hook


def _interrupt(thread: int) -> None:
    time.sleep(0.01)  # by then the thread has left the callback
    if sys.platform == "win32":
        _thread.interrupt_main()
    else:  # a signal ends a wait as well
        import signal  # not at the top: an interrupt while it loads would print a traceback

        signal.pthread_kill(thread, signal.SIGINT)


if __name__ == "__main__":
    main()
