"""Plans for people: text for terminals and logs, markdown for pull requests, a page of HTML."""

from compiler.planning.views.html_page import html_view
from compiler.planning.views.markdown import markdown_view
from compiler.planning.views.text import objects_text, text_view

__all__ = ["html_view", "markdown_view", "objects_text", "text_view"]
