// The doctor's findings, with buttons that apply remedies.

import { make } from "./text.js";

const SIGNS = { error: "✗", warning: "!", info: "i" };

export function showFindings(host, state, epoch, apply) {
  const parts = [];
  if (state?.note) parts.push(make("p", { class: "quiet" }, state.note));
  else if (!state || (!state.findings.length && !state.epoch)) {
    parts.push(make("p", { class: "quiet" }, state?.busy ? "Examining the run ..." : epoch ? "The first examination follows after a few epochs." : "Examines the run while it trains, and says what would help."));
  } else if (!state.findings.length) {
    parts.push(make("p", { class: "healthy" }, make("b", {}, "✓ "), `No problem found at epoch ${state.epoch}.`, state.busy ? " Looking again ..." : ""));
    if (state.reasons.length) parts.push(make("p", { class: "quiet" }, `${sentence(state.reasons.join("; "))}.`));
  } else if (state.busy) parts.push(make("p", { class: "quiet" }, `At epoch ${state.epoch}. Looking again ...`));
  else parts.push(make("p", { class: "quiet" }, `At epoch ${state.epoch}.`));
  const all = state?.findings ?? [], names = new Set(all.map((finding) => finding.name));
  const follows = (finding) => names.has(finding.explained_by);
  for (const finding of all.filter((each) => !follows(each))) {
    const followers = all.filter((each) => each.explained_by === finding.name);
    parts.push(make("article", { class: `finding ${finding.severity}`, "data-finding": finding.name },
      make("h3", {}, make("span", { class: "sign", "aria-hidden": "true" }, SIGNS[finding.severity]), ` ${finding.title}`),
      make("details", {}, make("summary", {}, finding.where ? `Why, and where: ${finding.where}` : "Why"), make("p", {}, finding.why)),
      finding.remedies.map((remedy) => {
        const tried = remedy.tried ? " Tried: it lowers the loss on held-out rows." : "";
        const has = Object.keys(remedy.changes).length > 0;
        return make("p", { class: "remedy" }, `${remedy.text}${tried} `,
          has && apply ? make("button", { type: "button", onclick: () => apply(remedy.changes) }, "Apply") : null,
          !has && remedy.python ? make("span", { class: "quiet" }, apply ? "The playground has no setting for this. In Python: " : "In Python: ", make("code", {}, remedy.python)) : null);
      }),
      followers.length ? make("details", {}, make("summary", {}, `Explains ${followers.length} more`), followers.map((each) => make("p", { "data-finding": each.name }, each.title))) : null));
  }
  host.replaceChildren(...parts);
}

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);
