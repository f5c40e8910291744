"""A server of the Model Context Protocol with the verbs as tools."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from pushout import api
from pushout.extras import need
from pushout.tools import ToolError, Tools

INSTRUCTIONS = """\
Pushout simulates buffers of switches: which policy, how much buffer, which thresholds. Start with `scenarios` and \
`policies`; a scenario is a shipped name, a .toml file of the folder, or its text. `set` has overrides key=value, as \
port.bottleneck.buffer=100 packets. Figures have paths, as summary.loss_ratio or ports.bottleneck.occupancy_mean. \
Quote numbers with their interval, and repeat warnings.\
"""


def serve(folder: Path) -> None:
    """Answer the client at the other end of standard input and output, until it leaves."""
    library = need("mcp.server.mcpserver", "pushout mcp")
    tools = Tools(folder)
    server = library.MCPServer("pushout", instructions=INSTRUCTIONS, version=api.__version__, log_level="WARNING")
    for tool in tools.all():
        server.tool(structured_output=False)(_translated(tool))
    server.run("stdio")


def _translated(tool: Callable[..., Any]) -> Callable[..., Any]:
    """Raise the errors of a tool as those that the client receives as its answer."""
    expected = need("mcp.server.mcpserver.exceptions", "pushout mcp").ToolError

    @wraps(tool)
    def called(**arguments: Any) -> Any:
        try:
            return tool(**arguments)
        except ToolError as error:
            raise expected(str(error)) from None

    return called
