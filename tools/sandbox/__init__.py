"""The sandbox: where tool code and programs of unknown intent run. `local` is the backend on this machine."""
