"""The command `pushout mcp`."""

from pathlib import Path

import click

from pushout.cli.options import FOLDER, MEMORY


@click.command()
@click.option("--folder", type=FOLDER, required=True, metavar="DIR", help="The only folder that is read and written.")
@MEMORY
def mcp(folder: Path) -> None:
    """Offer the verbs as tools to a language model, over standard input and output (Model Context Protocol).

    The tools are scenarios, write_scenario, validate, explain, run, compare, size, why, headroom, chip_predict,
    chip_explain and policies. They read and write files below DIR only: an absolute path, one with .. and one with a
    symbolic link are refused. The command needs pip install 'pushout[mcp]'.
    """
    from pushout import server

    server.serve(folder)
