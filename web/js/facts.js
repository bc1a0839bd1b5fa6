// What the server told of an answer: tokens, speed, and the settings that were in effect with where each came from.
import { h } from "./dom.js";

export const short = (n) => (Math.abs(n) >= 100 ? n.toFixed(0) : Number(n.toPrecision(3)).toString());
const seconds = (ms) => (ms < 1000 ? `${ms.toFixed(0)} ms` : `${short(ms / 1000)} s`);
const tokens = (n) => `${n.toLocaleString("en")} token${n === 1 ? "" : "s"}`;

function speedOf(message) {
  return message.timings?.predicted_per_second || message.speed || 0;
}

function rowsOf({ usage, timings, firstTokenMs }) {
  const rows = [];
  if (usage) {
    const cached = usage.prompt_tokens_details?.cached_tokens ?? 0;
    rows.push([
      "Prompt",
      tokens(usage.prompt_tokens) + (cached ? `, ${cached.toLocaleString("en")} of them cached` : ""),
    ]);
    const thought = usage.completion_tokens_details?.reasoning_tokens ?? 0;
    rows.push([
      "Answer",
      tokens(usage.completion_tokens) + (thought ? `, ${thought.toLocaleString("en")} of them thoughts` : ""),
    ]);
  }
  if (firstTokenMs !== undefined) rows.push(["First token after", seconds(firstTokenMs)]);
  if (timings?.prompt_n > 0) rows.push(["Reading", `${short(timings.prompt_per_second)} tokens/s`]);
  if (timings?.predicted_n > 0)
    rows.push(["Writing", `${short(timings.predicted_per_second)} tokens/s, ${seconds(timings.predicted_ms)}`]);
  if (timings?.draft_n > 0) rows.push(["Draft tokens", `${timings.draft_n_accepted} of ${timings.draft_n} accepted`]);
  return rows;
}

const table = (rows) =>
  h(
    "table",
    {},
    h(
      "tbody",
      {},
      ...rows.map((cells) =>
        h("tr", {}, h("th", { scope: "row" }, cells[0]), ...cells.slice(1).map((cell) => h("td", {}, cell))),
      ),
    ),
  );

// A line that opens to all of it; nothing where the server told nothing.
export function factsOf(message) {
  const rows = rowsOf(message);
  if (rows.length === 0) return null;
  const parts = [];
  if (message.usage) parts.push(tokens(message.usage.completion_tokens));
  if (speedOf(message) > 0) parts.push(`${short(speedOf(message))} tokens/s`);
  const details = h("details", { class: "facts" }, h("summary", {}, parts.join(" · ") || "Details"));
  details.addEventListener("toggle", () => {
    if (!details.open || details.childElementCount > 1) return;
    const parameters = Object.entries(message.parameters ?? {}).map(([name, { value, origin }]) => [
      name,
      typeof value === "number" ? short(value) : String(value),
      origin,
    ]);
    details.append(
      h(
        "div",
        { class: "card" },
        table(rows),
        parameters.length > 0 && h("h4", {}, "Settings in effect"),
        parameters.length > 0 && table(parameters),
      ),
    );
  });
  return details;
}
