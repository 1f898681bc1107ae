"""A diagnosis: findings in order, as text, as a page and as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Self

from madaline.annotations import fits
from madaline.doctor.finding import Finding, Remedy
from madaline.doctor.picture import shown

ORDER = {"error": 0, "warning": 0, "info": 1}
MARKS = {"error": "✗", "warning": "!", "info": "i"}
COLORS = {"error": "#c0392b", "warning": "#b9770e", "info": "#2471a3"}


@dataclass(frozen=True)
class Diagnosis:
    """What the doctor found.

    Attributes
    ----------
    findings : sequence of Finding
        Ranked by what the remedy is expected to gain; what follows from other findings, and information, come last.
    reasons : sequence of str
        Why training looks healthy, where it does.
    limits : sequence of str
        What could not be examined, and why.
    """

    findings: Sequence[Finding] = ()
    reasons: Sequence[str] = ()
    limits: Sequence[str] = field(default=())

    @property
    def alarms(self) -> list[Finding]:
        """The findings that something should be done about."""
        return [finding for finding in self.findings if finding.is_alarm]

    @property
    def is_healthy(self) -> bool:
        """Whether there are no alarms."""
        return not self.alarms

    @property
    def names(self) -> list[str]:
        """The names of the findings in order."""
        return [finding.name for finding in self.findings]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, name: str) -> Finding:
        found = next((finding for finding in self.findings if finding.name == name), None)
        if found is None:
            raise KeyError(f"There is no finding {name!r}. Findings: {', '.join(self.names) or 'none'}.")
        return found

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def to_dict(self) -> dict[str, Any]:
        """The diagnosis as plain data."""
        return {
            "healthy": self.is_healthy,
            "findings": [finding.to_dict() for finding in self.findings],
            "reasons": list(self.reasons),
            "limits": list(self.limits),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The diagnosis from plain data. Raises a TypeError for damaged data."""
        if not fits(data["reasons"], list[str]) or not fits(data["limits"], list[str]):
            raise TypeError("reasons and limits are lists of sentences")
        findings = tuple(Finding.from_dict(each) for each in data["findings"])
        return cls(findings, tuple(data["reasons"]), tuple(data["limits"]))

    @property
    def headline(self) -> str:
        """The result as one sentence."""
        alarms = self.alarms
        if not alarms:
            if not self.reasons:
                return "Nothing was found, but the net has not been shown to be better than a constant prediction."
            return f"Training looks healthy, because {'; '.join(self.reasons)}."
        others = len(alarms) - 1
        rest = f", and {others} more finding{'s' if others > 1 else ''}" if others else ""
        return f"{alarms[0].title.rstrip('.')}{rest}."

    def __str__(self) -> str:
        lines = [self.headline]
        for number, finding in enumerate(self._shown, 1):
            lines += ["", *_lines(number, finding), *_consequences(self._explained_by(finding))]
        lines += ["", *(f"Not examined: {text}" for text in self.limits)] if self.limits else []
        return "\n".join(lines)

    @property
    def _shown(self) -> list[Finding]:
        """The findings that are shown by themselves."""
        return [finding for finding in self.findings if not finding.explained_by]

    def _explained_by(self, finding: Finding) -> list[Finding]:
        return [other for other in self.findings if other.explained_by == finding.name]

    def __repr__(self) -> str:
        return f"Diagnosis({', '.join(self.names) or 'healthy'})"

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_html(self) -> str:
        """The diagnosis as a part of a page."""
        parts = [f"<p><b>{escape(self.headline)}</b></p>"]
        parts += [_card(finding, self._explained_by(finding)) for finding in self._shown]
        parts += [f"<p>Not examined: {escape(text)}</p>" for text in self.limits]
        return f'<div class="diagnosis">{"".join(parts)}</div>'


def _numbers(finding: Finding) -> str:
    return ", ".join(f"{name} {shown(value)}" for name, value in finding.evidence.items())


def _lines(number: int, finding: Finding) -> Iterator[str]:
    where = f"; {finding.where}" if finding.where else ""
    yield f"{number}. {MARKS[finding.severity]} {finding.title} [{finding.name}, {finding.severity}{where}]"
    yield f"   Evidence: {_numbers(finding)}; confidence {finding.confidence:.0%}."
    if finding.picture is not None and (picture := finding.picture.text()):
        yield f"   {picture}"
    yield f"   Why: {finding.why}"
    for remedy in _shown_remedies(finding):
        yield f"   → {remedy.text}{_tried(remedy)}"
        if remedy.python:
            yield f"     Python: {remedy.python}"
        if remedy.options:
            yield f"     Command line: {remedy.options}"


def _consequences(explained: Sequence[Finding]) -> list[str]:
    """What a finding explains, as one line."""
    if not explained:
        return []
    titles = [other.title.rstrip(".") for other in explained]
    found = "; ".join(f"{title} [{other.name}]" for title, other in zip(titles, explained, strict=True))
    return [f"   This explains: {found}."]


def _shown_remedies(finding: Finding) -> list[Remedy]:
    """The remedies that were tried and helped; if none was tried, all."""
    return [remedy for remedy in finding.remedies if remedy.gain is not None] or list(finding.remedies)


def _tried(remedy: Remedy) -> str:
    """What trying a remedy showed."""
    if remedy.gain is None:
        return ""
    others = f" together with the remedy of {' and '.join(remedy.tried_with)}" if remedy.tried_with else ""
    others += f" after the remedy of {' and '.join(remedy.tried_after)}" if remedy.tried_after else ""
    if remedy.losses is not None:
        before, after = remedy.losses
        return f" Tried{others}: the loss on held-out rows falls from {shown(before)} to {shown(after)}."
    return f" Tried{others}: it lowers the loss on held-out rows."


def _card(finding: Finding, consequences: Sequence[Finding]) -> str:
    color = COLORS[finding.severity]
    remedies = "".join(
        f"<li>{escape(remedy.text)}"
        + (f" <i>{escape(tried.strip())}</i>" if (tried := _tried(remedy)) else "")
        + (f"<br>Python: <code>{escape(remedy.python)}</code>" if remedy.python else "")
        + (f"<br>Command line: <code>{escape(remedy.options)}</code>" if remedy.options else "")
        + "</li>"
        for remedy in _shown_remedies(finding)
    )
    explains = "".join(f"<p>{escape(line.strip())}</p>" for line in _consequences(consequences))
    picture = ""
    if finding.picture is not None and finding.picture.text():
        picture = f"<div>{finding.picture.svg()}<br><small>{escape(finding.picture.caption)}</small></div>"
    return (
        f'<div style="border-left:4px solid {color};padding:0 0 0 12px;margin:12px 0">'
        f"<p><b>{escape(finding.title)}</b> <code>{finding.name}</code>, {finding.severity}, "
        f"confidence {finding.confidence:.0%}{escape('; ' + finding.where) if finding.where else ''}</p>"
        f"<p>Evidence: {escape(_numbers(finding))}.</p>{picture}<p>{escape(finding.why)}</p>"
        f"<ul>{remedies}</ul>{explains}</div>"
    )
