// What all parts of the page share: the data, elements, and figures as text. Everything comes from
// the JSON in #data; text is only ever set as text.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const report = data.report;
const rows = report.rows.filter((row) => !row.error);
// What was simulated: trees, then programs of threadblocks, which are not compared with trees.
const kinds = {trees: "Trees, without threadblocks", program: "Programs of threadblocks"};
const timesOf = (row, kind) => (kind === "program" ? row.program_times : row.times) || [];
const timed = Object.keys(kinds).flatMap((kind) =>
  rows.filter((row) => timesOf(row, kind).length > 0).map((row) => ({row, kind, times: timesOf(row, kind)})));
const byId = (id) => document.getElementById(id);

// element("td", {class: "x"}, "text", child, …)
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null));
  return made;
}

function figure(value, digits = 3) {
  if (value === 0) return "0";
  const shown = Math.abs(value) < 0.01 ? value.toPrecision(digits) : value.toFixed(digits);
  return shown.includes(".") && !shown.includes("e") ? shown.replace(/\.?0+$/, "") : shown;
}
function bytes(count) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (count >= 1024 && unit + 1 < units.length) {
    count /= 1024;
    unit += 1;
  }
  return `${figure(count, 1)} ${units[unit]}`;
}
function duration(seconds) {
  if (seconds < 1e-3) return `${(seconds * 1e6).toPrecision(3)} µs`;
  if (seconds < 1) return `${(seconds * 1e3).toPrecision(3)} ms`;
  return `${seconds.toPrecision(3)} s`;
}
function rate(value) {
  return value < 100 ? value.toPrecision(3) : value.toFixed(1);
}
// Exactly as in the program's tables: from {exact}, rounded down.
function percentOf(part, whole) {
  const [[a, b], [c, d]] = [part, whole].map((rate) => `${rate.exact}/1`.split("/").map(BigInt));
  const hundredths = (a * d * 10000n) / (b * c);
  const more = hundredths === 10000n && a * d !== b * c ? 1n : 0n;
  return `${figure(Number(hundredths + more) / 100, 2)} %`;
}
const percent = (fraction) => `${figure(Math.floor(fraction * 1e4 + 1e-6) / 100, 2)} %`;
// As in the charts: ours has the first colour, the runtime's own choice the last, and the others
// take turns with the rest.
const others = report.rows.filter((row) => row.algorithm !== "forestcoll");
const slot = (row) => `fc-s${row.algorithm === "forestcoll" ? 0
  : /^(nccl|mscclpp)-pick$/.test(row.algorithm) ? 12 : (others.indexOf(row) % 11) + 1}`;
// A file goes by its name; its folders are told on pointing at it.
const named = (row) => element("span", {class: "label", title: row.algorithm},
  element("i", {class: `swatch ${slot(row)}`}), row.algorithm.split("/").pop());
