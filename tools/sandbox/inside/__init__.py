"""What runs on the far side of the wall: standard library only, started in a clean interpreter, no agent_world."""
