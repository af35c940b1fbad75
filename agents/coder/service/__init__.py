"""Tools of the theme's real service that say more than one operation on one table: its own interfaces, made to work.

`find` a key by what people know, `details` of a row with its parts, `change` under a precondition, `calculate`.
What the data cannot serve is named with the reason (`unserved`).
"""

from agent_world.agents.coder.service.serve import Served, serve, unserved

__all__ = ["Served", "serve", "unserved"]
