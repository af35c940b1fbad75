"""`python -m agent_world` is `agent-world`."""

import sys

from agent_world.cli import main

sys.exit(main())
