"""One module a command; each defines `command`, and is imported when it is run or completed."""
