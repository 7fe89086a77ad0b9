"""Plans for people: text for terminals and logs, markdown for pull requests."""

from compiler.planning.views.markdown import markdown_view
from compiler.planning.views.text import objects_text, text_view

__all__ = ["markdown_view", "objects_text", "text_view"]
