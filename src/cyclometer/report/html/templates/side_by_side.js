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
  row.append(cell(one[0] + (one[1] ? ` (${one[1]})` : ""), "th"), cell(before ? figure(before[2]) : ""), cell(after ? figure(after[2]) : ""),
    cell(one[3], "td", "wide"), cell(shown));
  row.dataset.size = change === null ? Infinity : Math.abs(change);
  return row;
}

function draw() {
  const [before, after] = [held[choice.before.value], held[choice.after.value]];
  if (!before || !after) return;
  const rows = [...new Set([...Object.keys(before), ...Object.keys(after)])].map(name => line(name, before[name], after[name]));
  rows.sort((a, b) => b.dataset.size - a.dataset.size);
  const differ = rows.filter(row => Number(row.dataset.size) > 0).length;
  document.getElementById("told").textContent =
    `${rows.length} circles, ${differ} with another figure, the largest first. Whether a difference is real, cyclometer compare says.`;
  document.getElementById("rows").replaceChildren(...rows);
}

function choose() {
  location.replace(`#${choice.before.value},${choice.after.value}`);
  fetchRows(choice.before.value);
  fetchRows(choice.after.value);
  draw();
}

const told = document.getElementById("told");
const wanted = location.hash.slice(1).split(",");
choice.after.replaceChildren(...[...choice.before.options].map(option => option.cloneNode(true)));
choice.after.selectedIndex = 0;
// At first the newest bundle against the one before it of its target, the third word of a choice.
const target = option => option.textContent.split(" ")[2];
const others = [...choice.before.options].slice(1);
const like = others.findIndex(option => target(option) === target(choice.before.options[0]));
choice.before.selectedIndex = like < 0 ? 0 : like + 1;
if (wanted.length === 2) [choice.before.value, choice.after.value] = wanted;
choice.before.onchange = choice.after.onchange = choose;
if (choice.before.length) choose();
