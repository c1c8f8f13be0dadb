// SPDX-License-Identifier: BSD-2-Clause
// Flame graphs: zoom, search and icicle, by mouse and by keyboard. Without it they stand as drawn.
"use strict";
const ROW = 18, LETTER = 6.3, SVG = "http://www.w3.org/2000/svg";

function element(name, attributes, text = "") {
  const made = Object.assign(document.createElement(name), attributes);
  made.textContent = text;
  return made;
}

// The frames of a graph, each with its caller: they stand in the order callers, then called.
function framesOf(svg, high) {
  const open = [];
  return [...svg.querySelectorAll("g.box")].map((g) => {
    const [x, width] = g.dataset.at.split(" ").map(Number), rect = g.querySelector("rect");
    const depth = Math.round(high / ROW - 1 - Number(rect.getAttribute("y")) / ROW);
    open.length = depth;
    const frame = { g, rect, x, width, depth, called: [], caller: open[depth - 1], label: g.dataset.label };
    frame.caller?.called.push(frame);
    open[depth] = frame;
    return frame;
  });
}

function place(frame, zoomed, wide, high, icicle) {
  const { g, rect, label } = frame, scale = wide / zoomed.width;
  const left = Math.max((frame.x - zoomed.x) * scale, 0), right = Math.min((frame.x + frame.width - zoomed.x) * scale, wide);
  g.style.display = right - left < 0.3 ? "none" : "";
  const y = icicle ? frame.depth * ROW : high - (frame.depth + 1) * ROW, letters = Math.floor((right - left - 6) / LETTER);
  rect.setAttribute("x", left);
  rect.setAttribute("y", y);
  rect.setAttribute("width", Math.max(right - left - 0.6, 0.3));
  const text = g.querySelector("text") ?? g.appendChild(document.createElementNS(SVG, "text"));
  text.setAttribute("class", "in-box");
  text.setAttribute("x", left + 4);
  text.setAttribute("y", y + 13);
  text.textContent = letters < 3 ? "" : label.length <= letters ? label : `${label.slice(0, letters - 1)}…`;
}

// The share of the graph that matching frames cover, those below one another counted once.
function covered(frames, matches) {
  const outermost = frames.filter((frame) => {
    for (let above = frame.caller; above; above = above.caller) if (matches.has(above)) return false;
    return matches.has(frame);
  });
  return outermost.reduce((sum, frame) => sum + frame.width, 0) / frames[0].width;
}

function equip(figure) {
  const svg = figure.querySelector("svg"), [, , wide, high] = svg.getAttribute("viewBox").split(" ").map(Number);
  const frames = framesOf(svg, high), of = new Map(frames.map((frame) => [frame.g, frame]));
  if (!frames.length) return;
  let zoomed = frames[0], icicle = false, focused = frames[0];
  const draw = () => frames.forEach((frame) => place(frame, zoomed, wide, high, icicle));
  const zoom = (frame) => { zoomed = frame; draw(); };
  const seen = (frame) => frame && frame.g.style.display !== "none";

  const search = element("input", { type: "search", placeholder: "function", ariaLabel: "Search functions" });
  const found = element("output", {}), turn = element("button", { type: "button" }, "Icicle");
  const reset = element("button", { type: "button" }, "Whole turn");
  turn.setAttribute("aria-pressed", "false");
  const bar = element("p", { className: "tools" });
  bar.append(search, " ", found, " ", turn, " ", reset, " ", element("small", {}, "click or Enter zooms, arrows walk, Escape shows all"));
  figure.querySelector("figcaption").after(bar);

  search.addEventListener("input", () => {
    const wanted = search.value.trim().toLowerCase();
    const matches = new Set(wanted ? frames.filter((frame) => frame.label.toLowerCase().includes(wanted)) : []);
    for (const frame of frames) frame.g.classList.toggle("found", matches.has(frame));
    figure.classList.toggle("searching", wanted !== "");
    found.textContent = wanted ? `${matches.size} frame${matches.size === 1 ? "" : "s"}, ${(100 * covered(frames, matches)).toFixed(1)} %` : "";
  });
  turn.addEventListener("click", () => {
    icicle = !icicle;
    turn.setAttribute("aria-pressed", String(icicle));
    draw();
  });
  reset.addEventListener("click", () => zoom(frames[0]));

  // One frame is in the order of the tabulator; arrows go on from it.
  function focus(frame) {
    focused.g.setAttribute("tabindex", "-1");
    frame.g.setAttribute("tabindex", "0");
    focused = frame;
    frame.g.focus();
  }
  const beside = (frame, way) => {
    const all = (frame.caller?.called ?? [frame]).filter(seen);
    return all[all.indexOf(frame) + way];
  };
  const widest = (frame) => frame.called.filter(seen).sort((a, b) => b.width - a.width)[0];
  const keys = {
    Enter: (frame) => zoom(frame),
    " ": (frame) => zoom(frame),
    Escape: () => zoom(frames[0]),
    ArrowUp: (frame) => (icicle ? frame.caller : widest(frame)),
    ArrowDown: (frame) => (icicle ? widest(frame) : frame.caller),
    ArrowLeft: (frame) => beside(frame, -1),
    ArrowRight: (frame) => beside(frame, 1),
  };
  svg.setAttribute("role", "group");
  for (const { g } of frames) {
    g.setAttribute("role", "button");
    g.setAttribute("aria-label", g.querySelector("title").textContent);
    g.setAttribute("tabindex", g === focused.g ? "0" : "-1");
  }
  svg.addEventListener("click", (event) => {
    const frame = of.get(event.target.closest("g.box"));
    if (frame) zoom(frame);
  });
  svg.addEventListener("keydown", (event) => {
    const frame = of.get(event.target.closest("g.box"));
    if (!frame || !keys[event.key]) return;
    event.preventDefault();
    const next = keys[event.key](frame);
    if (next) focus(next);
  });
}

document.querySelectorAll("figure.flame").forEach(equip);
