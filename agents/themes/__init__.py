"""What environments are to be about: themes from real services, tool documentation and PRDs (section 3.1)."""

from agent_world.agents.themes.collect import collect_themes, read_theme
from agent_world.agents.themes.words import essence, salient, words

__all__ = ["collect_themes", "essence", "read_theme", "salient", "words"]
