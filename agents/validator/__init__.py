"""The task validator: the gate that a task must pass, and the ReAct agent that attempts it (paper section 3.1.1)."""
