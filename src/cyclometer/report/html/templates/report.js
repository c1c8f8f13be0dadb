// SPDX-License-Identifier: BSD-2-Clause
// Finds, sorts and reads off. Without it the report shows the same, one page at a time by its links.
"use strict";
const one = (query, from = document) => from.querySelector(query);
const all = (query, from = document) => [...from.querySelectorAll(query)];
const box = one("#filter"), body = one(".overview tbody"), rows = all("tr", body);
const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
let verdict = "";

function filter() {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of rows)
    row.hidden = (verdict && row.dataset.verdict !== verdict) || !words.every((word) => texts.get(row).includes(word));
  one("#count").textContent = `${shown().length} of ${rows.length} circles`;
}

// Rows as they stand on the page now.
const shown = () => all("tr:not([hidden])", body);

function choose(chip) {
  verdict = verdict === chip.dataset.verdict ? "" : chip.dataset.verdict;
  for (const other of all(".chip")) other.setAttribute("aria-pressed", String(other.dataset.verdict === verdict));
  filter();
}

// By number where the cells have numbers, else by word; what has no value stays at the end.
function sort(head) {
  const way = head.getAttribute("aria-sort") === "ascending" ? -1 : 1, column = head.cellIndex;
  for (const other of all("thead [aria-sort]")) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
  const key = (row) => row.cells[column].dataset.v;
  const order = (a, b) => (isNaN(a) || isNaN(b) ? a.localeCompare(b) : a - b);
  const known = rows.filter((row) => key(row) !== undefined).sort((a, b) => way * order(key(a), key(b)));
  body.append(...known, ...rows.filter((row) => key(row) === undefined));
}

// Readers and the keyboard follow to the page that the address names.
function arrive() {
  const page = one(".page:target");
  for (const link of all("header nav a"))
    link.ariaCurrent = link.hash === (page ? `#${page.id}` : "#overview") ? "page" : null;
  if (page) one("h2", page).focus({ preventScroll: true });
}

// The circle before or after the one on the page, in the order and choice of the overview.
function step(way) {
  const links = shown().map((row) => one("a", row).hash), here = links.indexOf(location.hash);
  if (here >= 0 && links[here + way]) location.hash = links[here + way];
}

function move(way) {
  const links = shown().map((row) => one("a", row)), here = links.indexOf(document.activeElement);
  links[Math.max(0, Math.min(links.length - 1, here + way))]?.focus();
}

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = document.activeElement === box, page = one(".page:target");
  const does = {
    "/": !typing && (() => { location.hash = "overview"; box.focus(); }),
    Escape: page ? () => { location.hash = "overview"; } : () => { box.value = ""; filter(); box.focus(); },
    ArrowLeft: page && (() => step(-1)), ArrowRight: page && (() => step(1)),
    ArrowDown: !page && body.contains(document.activeElement) || typing ? () => move(1) : null,
    ArrowUp: !page && body.contains(document.activeElement) ? () => move(-1) : null,
  }[event.key];
  if (does) { event.preventDefault(); does(); }
}

// Where the pointer is on a scale: pixels to values.
function value(ends, share) {
  const [low, high, log] = ends.split(" ");
  return log ? low * (high / low) ** share : +low + (high - low) * share;
}

function read(event) {
  const hit = event.target.closest?.(".hit"), at = hit && one(".at", hit.closest("figure"));
  for (const other of all(".page:target .at")) if (other !== at) other.textContent = "";
  if (!at) return;
  const r = hit.getBoundingClientRect(), digits = (v) => v.toLocaleString("en", { maximumSignificantDigits: 4 });
  const x = value(hit.dataset.x, (event.clientX - r.left) / r.width);
  const y = value(hit.dataset.y, (r.bottom - event.clientY) / r.height);
  at.textContent = `x ${digits(x)}, y ${digits(y)}`;
}

box.addEventListener("input", filter);
for (const chip of all(".chip")) chip.addEventListener("click", () => choose(chip));
for (const head of all("thead [aria-sort]")) one("button", head).addEventListener("click", () => sort(head));
addEventListener("hashchange", arrive);
addEventListener("keydown", key);
addEventListener("pointermove", read);
addEventListener("load", arrive);
