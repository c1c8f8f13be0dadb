// SPDX-License-Identifier: BSD-2-Clause
// Two bundles, chosen by the reader, row by row. A bundle's rows come from data/DIGEST.js, which calls arrived().
"use strict";
const held = {};
const choice = { before: document.getElementById("before"), after: document.getElementById("after") };

window.arrived = (bundle, rows) => { held[bundle] = rows; draw(); };

function fetchRows(bundle) {
  if (bundle in held) return;
  held[bundle] = null;
  const script = document.createElement("script");
  script.src = `data/${encodeURIComponent(bundle)}.js`;
  script.onerror = () => { told.textContent = `data/${bundle}.js is missing; build the site again`; };
  document.head.append(script);
}

function cell(words, kind = "td", style = kind === "td" ? "n" : "") {
  const made = document.createElement(kind);
  made.textContent = words;
  made.className = style;
  return made;
}

const figure = (value) => value.toLocaleString("en", { maximumSignificantDigits: 6, useGrouping: value >= 10000 });

function line(likeness, before, after) {
  const one = before || after, row = document.createElement("tr");
  const change = before && after && before[2] ? 100 * (after[2] / before[2] - 1) : null;
  const shown = change === null ? (before ? "removed" : "added") : change === 0 ? "same" : `${change > 0 ? "+" : "−"}${Math.abs(change).toFixed(2)} %`;
  const name = cell("", "th");
  for (const piece of one[0].split(/(?<=[._\/])/)) name.append(piece, document.createElement("wbr"));
  if (one[1]) name.append(cell(one[1], "small"));
  row.append(name, cell(before ? figure(before[2]) : "", "td", "n wide"), cell(after ? figure(after[2]) : ""),
    cell(one[3], "td", "wide"), cell(shown));
  row.dataset.size = change === null ? Infinity : Math.abs(change);
  return row;
}

function draw() {
  const [before, after] = [held[digest(choice.before.value)], held[digest(choice.after.value)]];
  if (!before || !after) return;
  const rows = [...new Set([...Object.keys(before), ...Object.keys(after)])].map(name => line(name, before[name], after[name]));
  rows.sort((a, b) => b.dataset.size - a.dataset.size);
  const differ = rows.filter(row => Number(row.dataset.size) > 0).length;
  document.getElementById("told").textContent =
    `${differ} of ${rows.length} circles differ, the largest differences first. cyclometer compare says which are real.`;
  document.getElementById("rows").replaceChildren(...rows);
}

function choose() {
  const chosen = [digest(choice.before.value), digest(choice.after.value)];
  if (!chosen.every(known)) {
    told.textContent = "Choose a bundle from the list: type a date, a target or a digest to narrow it.";
    return;
  }
  location.replace(`#${chosen}`);
  chosen.forEach(fetchRows);
  draw();
}

const told = document.getElementById("told");
// "DATE TIME TARGET DIGEST TITLE", the newest first; the digest names the bundle in addresses.
const labels = [...document.getElementById("bundles").options].map(option => option.value);
const word = (label, at) => label.split(" ")[at] || "";
const digest = (label) => word(label, 3);
const known = (bundle) => labels.some(label => digest(label) === bundle);
const labelled = (bundle) => labels.find(label => digest(label) === bundle);

// At first the newest bundle against the one before it of its target.
const [newest, ...others] = labels;
const [before, after] = location.hash.slice(1).split(",").map(labelled);
choice.after.value = after || newest;
choice.before.value = before || others.find(label => word(label, 2) === word(newest, 2)) || newest;
for (const field of Object.values(choice)) {
  field.onchange = choose;
  field.onfocus = () => field.select();
}
choose();
