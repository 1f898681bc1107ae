"""A page of a report, as tests read it."""

from __future__ import annotations

import json
from html.parser import HTMLParser


class Page(HTMLParser):
    """Elements, texts and charts of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.texts, self.inside = [], [], [], ""
        self.charts, self.tables, self.heading = [], {}, ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attributes]
        self.inside = "charts" if ("id", "charts") in attributes else tag
        if tag == "h3":
            self.heading = ""
        elif tag == "tr":
            self.tables.setdefault(self.heading, []).append([])
        elif tag in ("td", "th") and self.heading in self.tables:
            self.tables[self.heading][-1].append("")

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside == "charts":
            self.charts = json.loads(data)
        elif self.inside not in ("script", "style"):
            self.texts.append(data)
            if self.inside == "h3":
                self.heading += data
            elif self.inside in ("td", "th", "wbr"):
                self.tables[self.heading][-1][-1] += data

    @property
    def text(self):
        return "\n".join(self.texts)

    @property
    def sections(self):
        return [value for tag, name, value in self.attributes if (tag, name) == ("section", "id")]

    @property
    def titles(self):
        """The titles of the charts, in their order."""
        return [value for tag, name, value in self.attributes if (tag, name) == ("div", "aria-label")]

    def rows(self, heading):
        """The rows of the table under a heading, its names first."""
        return self.tables[heading]

    def chart(self, title):
        return self.charts[self.titles.index(title)]
