"""The task synthesizer: tool graph, walks, programs, wording (paper section 3.1.1)."""
