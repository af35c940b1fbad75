"""The repository root on the path, so that tests import `tests.worlds` and `tests.openai_server`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
