"""What is written into SQL text."""


def sql_name(identifier: str) -> str:
    """A name of a table or column, quoted."""
    return '"' + identifier.replace('"', '""') + '"'
